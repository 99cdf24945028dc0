import { expect, test } from "vitest";
import { type DecisionRequest, Decisions } from "./decisions.ts";
import type { DecisionModel } from "./model.ts";

const request = (decision: number, task = "melt"): DecisionRequest => ({
  library: "library-1",
  environment: "scienceworld",
  task,
  episode: "e",
  decision,
  selection: {},
  endOfTurn: true,
});

const modelOf = ({ task, decision }: DecisionRequest) => ({ task, decision }) as DecisionModel;

/** A worker that answers when it is told to. */
function slowWorker() {
  const asked: { request: DecisionRequest; answer: () => void; fail: (error: Error) => void }[] = [];
  const decisions = new Decisions(
    (each) =>
      new Promise((resolve, reject) => {
        asked.push({ request: each, answer: () => resolve(modelOf(each)), fail: reject });
      }),
  );
  return { asked, decisions };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("a decision is read once, and is here from then on", async () => {
  const { asked, decisions } = slowWorker();
  expect(decisions.ready(request(3))).toBeNull();
  const [first, second] = [decisions.get(request(3)), decisions.get(request(3))];
  expect(asked).toHaveLength(1);
  asked[0]!.answer();
  expect(await first).toBe(await second);
  expect(decisions.ready(request(3))).toBe(await first);
  expect(decisions.ready({ ...request(3), selection: { control: "success-only" } })).toBeNull();
  expect(decisions.ready({ ...request(3), endOfTurn: false })).toBeNull();
  expect(decisions.ready(request(3, "boil"))).toBeNull();
  expect(decisions.ready({ ...request(3), library: "library-2" })).toBeNull();
});

test("neighbours are made ready one after the other; new wishes take the place of old ones", async () => {
  const { asked, decisions } = slowWorker();
  const done = decisions.prepare([request(1), request(2), request(0)]);
  expect(asked.map((each) => each.request.decision)).toEqual([1]);
  void decisions.prepare([request(5, "boil")]);
  asked[0]!.answer();
  await settled();
  expect(asked.map((each) => each.request.decision)).toEqual([1, 5]);
  asked[1]!.answer();
  await done;
  expect(decisions.ready(request(1))).not.toBeNull();
  expect(decisions.ready(request(2))).toBeNull();
});

test("what was asked before another library or tokenizer is answered, and not kept", async () => {
  const { asked, decisions } = slowWorker();
  const before = decisions.get(request(1));
  decisions.forget();
  const after = decisions.get(request(1));
  expect(asked).toHaveLength(2);
  asked[1]!.answer();
  const model = await after;
  asked[0]!.answer();
  expect(await before).not.toBe(model);
  expect(decisions.ready(request(1))).toBe(model);
});

test("a fault is told to who asked, keeps nothing, and stops no preparation", async () => {
  const { asked, decisions } = slowWorker();
  const done = decisions.prepare([request(1), request(2)]);
  const wanted = decisions.get(request(1));
  asked[0]!.fail(new Error("damaged"));
  await expect(wanted).rejects.toThrow("damaged");
  await settled();
  asked[1]!.answer();
  await done;
  expect(decisions.ready(request(1))).toBeNull();
  expect(decisions.ready(request(2))).not.toBeNull();
  void decisions.get(request(1));
  expect(asked).toHaveLength(3);
});

test("only a few are kept: those used last", async () => {
  const decisions = new Decisions(async (each) => modelOf(each));
  for (let decision = 0; decision < 20; decision++) {
    await decisions.get(request(decision));
    decisions.ready(request(0));
  }
  const kept = Array.from({ length: 20 }, (_, i) => i).filter((i) => decisions.ready(request(i)) !== null);
  expect(kept).toHaveLength(12);
  expect(kept[0]).toBe(0);
  expect(kept.at(-1)).toBe(19);
});
