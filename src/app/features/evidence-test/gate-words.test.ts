import { expect, it } from "vitest";
import { type GateDecision, summarizeGate } from "../../../core/gate/index.ts";
import { answer, change, changeText, gateCsv, share } from "./gate-words.ts";

const scored = (episode: string, none: number, graph: number): GateDecision => ({
  environment: "alfworld",
  task: "t, 1",
  episode,
  decision: 2,
  actions: [
    { action: "go", optimal: true, taken: false },
    { action: "wait", optimal: false, taken: true },
  ],
  readings: [
    { context: "none", promptTokens: 10, logprobs: [Math.log(none), Math.log(0.25)], optimal: none },
    { context: "graph", promptTokens: 40, logprobs: [Math.log(graph), Math.log(0.5)], optimal: graph },
  ],
});

it("answers by the interval and not by the mean alone", () => {
  const said = (...decisions: GateDecision[]) => answer(summarizeGate(decisions));
  expect(said(scored("a", 0.25, 0.5), scored("b", 0.25, 0.5))).toEqual({
    word: "Yes",
    sentence:
      "The teacher’s probability of an optimal action is 0.500 with full graph and 0.250 with no evidence: +0.250 (95 % +0.250 to +0.250).",
  });
  expect(said(scored("a", 0.5, 0.25), scored("b", 0.5, 0.25))!.word).toBe("No");
  expect(said(scored("a", 0.25, 0.5), scored("b", 0.5, 0.375))!.word).toBe("Not told apart");
  const alone = said(scored("a", 0.25, 0.5))!;
  expect(alone.word).toBe("Not known yet");
  expect(alone.sentence).toContain("+0.250; an interval needs two episodes.");
  expect(said()).toBeNull();
  const weak = said(scored("a", 1e-9, 2e-9), scored("b", 1e-9, 2e-9))!;
  expect(weak.sentence).toMatch(/\+1e−9 \(.*\)\. This teacher hardly ever says an optimal action/);
});

it("prints small figures as they are, never as −0.000", () => {
  expect([share(0.25), share(0), share(4.2e-6)]).toEqual(["0.250", "0.000", "4e−6"]);
  expect([change(-4.2e-6), change(0), change(0.25)]).toEqual(["−4e−6", "0.000", "+0.250"]);
  expect(changeText({ value: null, interval: null })).toBe("–");
});

it("has a line per decision and context, with the student's own action", () => {
  expect(gateCsv([scored("a", 0.25, 0.5)])).toBe(
    "environment,task,episode,decision,context,prompt_tokens,p_optimal,p_taken\r\n" +
      'alfworld,"t, 1",a,2,none,10,0.25,0.25\r\n' +
      'alfworld,"t, 1",a,2,graph,40,0.5,0.5\r\n',
  );
});
