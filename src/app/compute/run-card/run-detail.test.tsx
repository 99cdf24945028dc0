import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { newRun } from "../runs/runs-store.ts";
import { RunDetail } from "./run-detail.tsx";
import { RunStateLine } from "./run-state.tsx";

const FAULT = "the device was lost";
const run = {
  ...newRun({ id: "page-1", where: "page", title: "", config: {}, state: "failed" }),
  message: FAULT,
};

it("says once why a run failed, with what the page says of its own run or without", () => {
  const times = (card: React.ReactElement): number => renderToStaticMarkup(card).split(FAULT).length - 1;
  expect(times(<RunDetail run={run} />)).toBe(1);
  expect(times(<RunDetail run={run} progress={<p>{FAULT}</p>} told={FAULT} />)).toBe(1);
  expect(times(<RunDetail run={run} progress={<p />} told="of another time" />)).toBe(1);
});

it("leaves the end of a run to what the page says of it", () => {
  const done = { ...run, state: "done" as const, message: null };
  const words = (card: React.ReactElement): string => renderToStaticMarkup(card).replace(/<[^>]*>/g, "");
  expect(words(<RunDetail run={done} />)).toContain("done · step");
  expect(
    words(<RunDetail run={done} progress={<p>Done: 2 steps.</p>} told="Done: 2 steps." />),
  ).not.toContain("done · step");
});

it("has no more episodes per step than the run trains on", () => {
  const config = { library: "l", teacher: "t", student: "s", episodes: "e", batch_size: 32 };
  const perStep = (more: object): string | undefined =>
    /per step<\/dt><dd>(.*?)<\/dd>/
      .exec(renderToStaticMarkup(<RunDetail run={{ ...run, config: { ...config, ...more } }} />))?.[1]
      ?.replace(/<[^>]*>/g, "");
  expect(perStep({})).toBe("32 episodes");
  expect(perStep({ episode_ids: ["e_1"] })).toBe("1 episode");
});

const watched = (more: object): string => {
  const decision = { episode: "e", decision: 4, action: "wait", trained: false, logprob: -2.5, ...more };
  const figures = { ...run.figures, heldOut: [{ step: 0, decisions: [decision] }] };
  return renderToStaticMarkup(<RunDetail run={{ ...run, figures }} />);
};

it("says of a watched decision when its action is not found in the response", () => {
  expect(watched({ whole: true })).toContain("not found in the response: log p of the whole response");
  // Runs of an earlier version do not tell it.
  for (const known of [{ whole: false }, {}])
    expect(watched(known)).not.toContain("not found in the response");
});

it("says of a watched decision whether the run trains on its episode or on its task", () => {
  expect(watched({ trained: true, taskTrained: true })).toContain("the run trains on its episode");
  expect(watched({ taskTrained: true })).toContain("the run trains on its task");
  for (const known of [{ taskTrained: false }, {}]) expect(watched(known)).not.toContain("the run trains on");
});

it("calls a run stopped that ended after its step, and cancelled that did not", () => {
  const end = (...types: ("stopped" | "start")[]): string => {
    const events = types.map((type) => ({ type, time: null })) as unknown as typeof run.events;
    return renderToStaticMarkup(<RunStateLine run={{ ...run, state: "cancelled", events }} />);
  };
  expect(end("stopped")).toContain("</span> stopped");
  expect(end("stopped", "start")).toContain("</span> cancelled");
});
