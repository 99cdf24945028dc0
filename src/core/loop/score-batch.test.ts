/** Which decisions are scored in one call, and what is done meanwhile. */
import { expect, it } from "vitest";
import { ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { contexts, EPISODES } from "../../../test/support/toy-training.ts";
import type { Scorer } from "../ports.ts";
import { batchRows } from "./rows.ts";
import { scoreBatch, type TeacherContexts } from "./score-batch.ts";

const STAGE = { evidence: { kind: "none" } } as const;
const ROWS = batchRows(EPISODES, toyCodec);
/** Context tokens of an episode here: two are enough for a call. */
const HALF = 2 ** 16;

/** Contexts of `HALF` tokens for each episode, and a teacher whose calls end when they are let. */
function slow() {
  const log: string[] = [];
  const model = new ToyModel(1);
  const waiting: (() => void)[] = [];
  const long: TeacherContexts = async (episode, evidence) => {
    log.push(`contexts of ${episode.episode}`);
    const short = await contexts(episode, evidence);
    const share = Math.ceil(HALF / episode.decisions.length);
    return (decision, promptIds, tokens) => ({
      ...short(decision, promptIds, tokens),
      promptIds: [...new Array<number>(share - promptIds.length).fill(promptIds[0]!), ...promptIds],
    });
  };
  const teacher: Pick<ToyModel, "score" | "info"> = {
    info: model.info,
    async score(requests, options) {
      const episodes = new Set(requests.map(({ id }) => id.split("#")[0]));
      log.push(`scoring of ${[...episodes].join(" ")}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
      log.push("scored");
      return model.score(requests, options);
    },
  };
  return { log, teacher, long, waiting };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

it("scores as many episodes per call as are worth it, and makes the next contexts meanwhile", async () => {
  const { log, teacher, long, waiting } = slow();
  const progress: number[] = [];
  const scoring = scoreBatch(ROWS, STAGE, teacher, long, { onProgress: ({ done }) => progress.push(done) });
  await settled();
  const names = EPISODES.map(({ episode }) => episode);
  expect(names).toHaveLength(5);
  const [a, b, c, d, e] = names;
  const made = (...of: (string | undefined)[]) => of.map((name) => `contexts of ${name}`);
  expect(log).toEqual([...made(a, b), `scoring of ${a} ${b}`, ...made(c, d)]);
  expect(progress).toEqual([]);
  waiting.shift()!();
  await settled();
  expect(log.slice(5)).toEqual(["scored", `scoring of ${c} ${d}`, ...made(e)]);
  waiting.shift()!();
  await settled();
  waiting.shift()!();
  const { items, scored } = await scoring;
  expect(items.map(({ episode, decision }) => [episode, decision])).toEqual(
    ROWS.map(({ episode, decision }) => [episode.episode, decision]),
  );
  expect(scored.decisions).toBe(ROWS.length);
  expect(progress).toHaveLength(3);
  expect(progress.at(-1)).toBe(ROWS.length);
});

it("tells how far a call of the scorer is, in decisions of the batch", async () => {
  const { teacher, long } = slow();
  const told: { done: number; total: number; unit: string }[] = [];
  const score: Scorer["score"] = async (requests, options) => {
    options?.onProgress?.({ done: 40, total: 80, unit: "tokens" });
    options?.onProgress?.({ done: 80, total: 80, unit: "tokens" });
    return requests.map(({ id, responseIds }) => ({ id, logprobs: new Float32Array(responseIds.length) }));
  };
  await scoreBatch(ROWS, STAGE, { info: teacher.info, score }, long, {
    onProgress: (each) => told.push(each),
  });
  expect(told.length).toBe(6);
  expect(told.every(({ total, unit }) => total === ROWS.length && unit === "decisions")).toBe(true);
  const done = told.map((each) => each.done);
  expect(done).toEqual([...done].sort((x, y) => x - y));
  expect(done.at(-1)).toBe(ROWS.length);
});

it("a fault of a context comes after the scores under way, and no others are asked for", async () => {
  const { log, teacher, long, waiting } = slow();
  const faulty: TeacherContexts = (episode, evidence) => {
    if (episode === EPISODES[3]) throw new Error("does not fit");
    return long(episode, evidence);
  };
  let ended = false;
  const scoring = scoreBatch(ROWS, STAGE, teacher, faulty).finally(() => {
    ended = true;
  });
  scoring.catch(() => {});
  await settled();
  expect(ended).toBe(false);
  waiting.shift()!();
  await expect(scoring).rejects.toThrow("does not fit");
  expect(log.filter((line) => line.startsWith("scoring"))).toHaveLength(1);
});

it("a fault of the teacher that comes while contexts are made ends the batch", async () => {
  const { teacher, long } = slow();
  const failing = { ...teacher, score: () => Promise.reject(new Error("no teacher")) };
  const late: TeacherContexts = async (episode, evidence) => {
    await settled();
    return long(episode, evidence);
  };
  await expect(scoreBatch(ROWS, STAGE, failing, late)).rejects.toThrow("no teacher");
});
