import { describe, expect, it } from "vitest";
import { tinyRecords } from "../../../test/support/tiny-records.ts";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { candidateResponses, checkOptimal, gateCase, gateDecision } from "./gate-case.ts";

/** One token per character; `>o` is one, as a tokenizer may join a bracket with the word behind it. */
const JOINED = 0x10_0000;
const codec = {
  ...toyCodec,
  encode: (text: string) =>
    [...text.matchAll(/>o|[\s\S]/g)].map(([part]) => (part === ">o" ? JOINED : part.codePointAt(0)!)),
  decode: (ids: readonly number[]) =>
    ids.map((id) => (id === JOINED ? ">o" : String.fromCodePoint(id))).join(""),
};
const text = (ids: readonly number[]): string => codec.decode(ids);

describe("candidateResponses", () => {
  const response = "<thought>Hm.</thought> <action>wait</action>";

  it("keeps the thought and scores the action with its closing tag", () => {
    const { shared, scored } = candidateResponses(response, ["wait", "go"], codec.encode);
    expect(text(shared)).toBe("<thought>Hm.</thought> <action>");
    expect(scored.map(text)).toEqual(["wait</action>", "go</action>"]);
  });

  it("scores every action from the bracket on where one of them is joined with it", () => {
    const { shared, scored } = candidateResponses(response, ["open", "go"], codec.encode);
    expect(text(shared)).toBe("<thought>Hm.</thought> <action");
    expect(scored.map(text)).toEqual([">open</action>", ">go</action>"]);
  });

  it("writes the action behind a closed thought of a malformed response, and alone where there is none", () => {
    const kept = (malformed: string) => text(candidateResponses(malformed, ["go"], codec.encode).shared);
    expect(kept("<thought>Hm.</thought> I go.")).toBe("<thought>Hm.</thought> <action>");
    expect(kept("<thought>Hm, <action>go</action>")).toBe("<action>");
    expect(kept("go")).toBe("<action>");
  });
});

describe("gateCase", () => {
  const { sources, episodes } = tinyRecords();
  const episode = episodes.find(({ decisions }) => decisions.length === 2)!;
  const prepared = prepareTask(
    sources.filter(({ task }) => task === episode.task),
    environmentRules(episode.environment),
  );
  const of = (decision: number, optimal: string[]) =>
    gateCase(prepared, episode, { decision, optimal }, codec);

  it("asks for the optimal actions and the student's own under each context, once where contexts are the same", () => {
    const found = of(1, ["open door", "wait"]);
    expect(found.actions).toEqual([
      { action: "open door", optimal: true, taken: false },
      { action: "wait", optimal: true, taken: false },
      { action: "go north", optimal: false, taken: true },
    ]);
    // No failed record is there to be retained: success only and the full graph read the same.
    const read = Object.fromEntries(found.contexts.map((each) => [each.context, each.read]));
    expect(read.none).toBe(0);
    expect(read.graph).toBe(read["success-only"]);
    const distinct = new Set(Object.values(read)).size;
    expect(found.requests).toHaveLength(3 * distinct);
    const prompt = codec.prompt(episode.decisions[1]!, episode.environment, {}).ids;
    expect(found.contexts[0]!.promptTokens).toBe(prompt.length);
    // Without evidence: h_t, then the student's thought up to the bracket that "open door" is joined with.
    expect(found.requests[0]!.promptIds).toEqual([
      ...prompt,
      ...codec.encode("<thought>Try e2 1.</thought><action"),
    ]);
    const graph = text(found.requests[3 * read.graph!]!.promptIds);
    expect(graph).toContain("STUDENT'S COMPLETE ACTUAL ACTION/OBSERVATION EXECUTION");
    expect(graph).toContain("open door");
  });

  it("does not ask twice for the student's action where it is optimal", () => {
    expect(of(1, ["go north"]).actions).toEqual([{ action: "go north", optimal: true, taken: true }]);
  });

  it("adds the probabilities of the optimal actions, each the product over its tokens", () => {
    const found = of(1, ["open door", "wait"]);
    const results = found.requests.map((_, i) => ({
      logprobs: Float32Array.of(Math.log(0.5), i % 3 === 0 ? Math.log(0.5) : Math.log(0.25)),
    }));
    const { readings, episode: name } = gateDecision(found, results);
    expect(name).toBe(episode.episode);
    expect(readings.map(({ context }) => context)).toEqual([
      "none",
      "hindsight-only",
      "minimum-prefix",
      "success-only",
      "graph",
    ]);
    for (const { optimal, logprobs } of readings) {
      expect(optimal).toBeCloseTo(0.5 * 0.5 + 0.5 * 0.25, 6);
      expect(Math.exp(logprobs[2]!)).toBeCloseTo(0.125, 6);
    }
  });
});

describe("checkOptimal", () => {
  const line = { task: "t", episode: "e", decision: 2, optimal: ["go"] };
  const fault = (found: Parameters<typeof checkOptimal>[1]) => () =>
    checkOptimal(line, found, { file: "o.jsonl", line: 4 });

  it("takes a line of a decision that is there, and names what is wrong with another", () => {
    expect(fault({ task: "t", decisions: 3 })).not.toThrow();
    expect(fault(undefined)).toThrow(InputError);
    expect(fault(undefined)).toThrow('o.jsonl, line 4, episode: no episode "e" among the student episodes');
    expect(fault({ task: "u", decisions: 3 })).toThrow(
      'o.jsonl, line 4, task: episode "e" is of task "u", not of "t"',
    );
    expect(fault({ task: "t", decisions: 2 })).toThrow("has 2 decisions, counted from 0; received 2");
  });
});
