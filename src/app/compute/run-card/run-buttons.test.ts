import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { Run } from "../runs/run.ts";
import { newRun } from "../runs/runs-store.ts";
import { RunButtons, removalQuestion } from "./run-buttons.tsx";

it("says what goes with a run that is removed, its open student too", () => {
  const run = newRun({ id: "page-1", where: "page", title: "a run", config: {} });
  const asked = "Remove “a run” with everything that was kept of it?";
  expect(removalQuestion(run, false)).toBe(`${asked} This cannot be undone.`);
  expect(removalQuestion(run, true)).toBe(
    `${asked} Its student is open, and will be lost with this tab unless you save it. This cannot be undone.`,
  );
});

it("is a group that can have the focus when the button that had it goes", () => {
  const run = newRun({ id: "page-1", where: "page", title: "a run", config: {}, state: "running" });
  expect(renderToStaticMarkup(createElement(RunButtons, { run }))).toContain(
    'role="group" aria-label="Run a run, page-1" tabindex="-1"',
  );
});

it("has nothing that ends a run whose steps are taken while its student is being kept", () => {
  const run = newRun({ id: "page-1", where: "page", title: "a run", config: {}, state: "running" });
  const drawn = (...types: ("start" | "done" | "checkpoint")[]): string[] => {
    const events = types.map((type) => ({ time: null, type }) as Run["events"][number]);
    const html = renderToStaticMarkup(createElement(RunButtons, { run: { ...run, events } }));
    return [...html.matchAll(/>(\w+)</g)].map(([, text]) => text!);
  };
  expect(drawn("start", "checkpoint")).toEqual(["Stop", "Cancel"]);
  expect(drawn("start", "done")).toEqual([]);
  expect(drawn("start", "done", "checkpoint")).toEqual([]);
  expect(drawn("start", "done", "checkpoint", "start")).toEqual(["Stop", "Cancel"]);
});
