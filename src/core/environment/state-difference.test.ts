import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { State } from "../record/schema.ts";
import { locateFacts } from "./alfworld/locator.ts";
import { locateCase } from "./scienceworld/locate-case.ts";
import { stateDifference } from "./state-difference.ts";
import { locatePage } from "./webshop/locate-page.ts";

function lines(path: string): Record<string, unknown>[] {
  const bytes = readFileSync(new URL(`../../../test/fixtures/${path}`, import.meta.url));
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const CASES = lines("scienceworld/locator-cases.jsonl.gz");
const TRACES = lines("alfworld/engine-traces.jsonl.gz");
const PAGES = lines("webshop/url-cases.jsonl");

/** Each recorded capture beside some others: something is said to differ exactly where the keys do. */
function manyPairs(environment: string, states: State[]): void {
  for (const [i, left] of states.entries()) {
    for (const step of [0, 1, 7]) {
      const right = states[(i + step) % states.length]!;
      const { same, changes, limit } = stateDifference(environment, left, right);
      const equal = left.key === right.key && left.mode === right.mode;
      if (equal && same) expect(changes).toEqual([]);
      else {
        expect(same).toBe(false);
        expect(changes.length, `${left.key} ${right.key}`).toBeGreaterThan(0);
      }
      expect(limit).toBeNull();
    }
  }
}

const withDescriptor = (state: State | null, descriptor: unknown): State[] =>
  state === null ? [] : [{ ...state, descriptor }];

describe("what differs between two states", () => {
  it("is found between ScienceWorld’s recorded trees", () => {
    const states = CASES.flatMap((raw) => withDescriptor(locateCase(raw).state, raw));
    expect(states.length).toBeGreaterThan(20);
    manyPairs("scienceworld", states);
  });

  it("is found for ALFWorld’s facts", () => {
    manyPairs(
      "alfworld",
      TRACES.slice(0, 60).flatMap((raw) => withDescriptor(locateFacts(raw).state, raw)),
    );
  });

  it("is found for WebShop’s pages", () => {
    const states = PAGES.flatMap((raw) => withDescriptor(locatePage(raw).state, raw.descriptor));
    expect(states.length).toBeGreaterThan(20);
    manyPairs("webshop", states);
  });

  it("names objects that open, move, warm up, come and go", () => {
    const tree = (kitchen: string, hall = "") =>
      `{"uuid":"1","name":"universe","contents":{"k":{"uuid":"2","name":"kitchen","contents":{${kitchen}}},"h":{"uuid":"3","name":"hall","contents":{${hall}}}}}`;
    const pot = (uuid: string, open: boolean, t: number) =>
      `"p":{"uuid":"${uuid}","name":"pot","propContainer":{"isOpen":${open}},"propMaterial":{"temperatureC":${t}.0,"boilingPoint":50.0}}`;
    const lamp = `"l":{"uuid":"9","name":"lamp"}`;
    const state = (key: string, object_tree: string, feedback: string): State => ({
      ...{ key, mode: "normal", options: {} },
      descriptor: {
        object_tree,
        goal_progress: `0 ${key === "b"} Focus on the pot.`,
        history: [
          { feedback: "Start.", stepped: true },
          { feedback, stepped: true },
        ],
      },
    });
    const left = state("a", tree(pot("4", false, 20), lamp), "Nothing.");
    // The simulator renumbers an object: it is the same pot.
    const right = state(
      "b",
      tree(`"c":{"uuid":"7","name":"cup"}`, pot("5", true, 60)),
      "You focus on the pot.",
    );
    expect(stateDifference("scienceworld", left, right)).toEqual({
      same: false,
      limit: null,
      changes: [
        { at: ["focus"], kind: "added", left: null, right: "pot" },
        { at: ["goal 0"], kind: "changed", left: "false", right: "true" },
        { at: ["kitchen", "pot"], kind: "moved", left: "kitchen", right: "hall" },
        { at: ["kitchen", "pot", "propContainer.isOpen"], kind: "changed", left: "false", right: "true" },
        {
          at: ["kitchen", "pot", "propMaterial.temperatureC.bin"],
          kind: "changed",
          left: "20",
          right: "60",
        },
        {
          at: ["kitchen", "pot", "propMaterial.temperatureC.threshold_sides.boilingPoint"],
          kind: "changed",
          left: "-1",
          right: "1",
        },
        { at: ["hall", "lamp"], kind: "removed", left: "hall", right: null },
        { at: ["kitchen", "cup"], kind: "added", left: null, right: "kitchen" },
      ],
    });
  });

  it("is the menu where only the parser’s mode differs", () => {
    const base = { key: "k", mode: "normal", options: {} };
    const menu = { ...base, mode: "pending_menu", options: { "0": "pick up  orange" } };
    expect(stateDifference("scienceworld", base, menu).changes).toEqual([
      { at: ["parser mode"], kind: "changed", left: "normal", right: "pending_menu" },
      { at: ["option", "0"], kind: "added", left: null, right: "pick up orange" },
    ]);
  });

  it("says why it is not known", () => {
    const state = (key: string, descriptor?: unknown): State => ({
      ...{ key, mode: "normal", options: {} },
      ...(descriptor === undefined ? {} : { descriptor }),
    });
    expect(stateDifference("scienceworld", null, state("a"))).toMatchObject({ same: null });
    expect(stateDifference("scienceworld", state("a"), state("b")).limit).toContain("keys of these states");
    expect(stateDifference("webshop", state("a", 3), state("b", {})).limit).toContain("not one that webshop");
    expect(stateDifference("chess", state("a"), state("b")).limit).toContain("custom environment");
    expect(
      stateDifference("scienceworld", state("a", { object_tree: "{" }), state("b", { object_tree: "[]" })),
    ).toMatchObject({ same: false, changes: [] });
    expect(stateDifference("scienceworld", state("a"), state("a"))).toEqual({
      ...{ same: true, changes: [], limit: null },
    });
  });
});
