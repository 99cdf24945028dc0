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

it("gives no answer about evidence without what is read without it", () => {
  const decisions = [0.5, 0.625, 0.5, 0.625, 0.5, 0.625].map((each, n): GateDecision => {
    const { readings, ...decision } = scored(`e${n}`, 0.25, each);
    return {
      ...decision,
      readings: readings.map((one, at) => (at === 0 ? { ...one, context: "success-only" } : one)),
    };
  });
  expect(answer(summarizeGate(decisions))).toMatchObject({
    word: "Not asked: “no evidence” is left out",
    sentence: expect.stringMatching(/0\.563 with full graph and 0\.250 with .*success only: \+0\.313/),
  });
});

it("answers by the interval and not by the mean alone", () => {
  const said = (none: number, ...graph: number[]) =>
    answer(summarizeGate(graph.map((each, n) => scored(`e${n}`, none, each))));
  const yes = said(0.25, 0.375, 0.5, 0.625, 0.375, 0.5, 0.625)!;
  expect(yes.word).toBe("Yes");
  expect(yes.sentence).toMatch(
    /^The teacher’s probability of an optimal action is 0\.500 with full graph and 0\.250 with no evidence: \+0\.250 \(95 % \+0\.1\d\d to \+0\.3\d\d\)\.$/,
  );
  expect(said(0.75, 0.375, 0.5, 0.625, 0.375, 0.5, 0.625)!.word).toBe("No");
  expect(said(0.5, 0.375, 0.5, 0.625, 0.375, 0.5, 0.625)!.word).toBe("No clear difference");
  const few = said(0.25, 0.375, 0.5, 0.625, 0.375, 0.5)!;
  expect(few.word).toBe("Not known yet");
  expect(few.sentence).toMatch(/ to \+0\.\d{3}\); fewer than six episodes say nothing\.$/);
  const alone = said(0.25, 0.5)!;
  expect(alone.word).toBe("Not known yet");
  expect(alone.sentence).toContain("+0.250; fewer than six episodes say nothing.");
  expect(said(0.25)).toBeNull();
  const weak = said(1e-9, 2e-9, 2e-9, 3e-9, 2e-9, 2e-9, 1e-9)!;
  expect(weak.sentence).toMatch(/\+1e−9 \(.*\)\. This teacher hardly ever gives an optimal action/);
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
