import { openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import * as Comlink from "comlink";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Pending } from "../../../../test/support/fake.ts";
import { EPISODES, SETTINGS } from "../../../../test/support/toy-training.ts";
import { METHODS } from "../../../core/method/index.ts";
import type { Episode } from "../../../core/record/schema.ts";
import type { TokenizerTexts } from "../../../text/index.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { Role } from "../store.ts";
import { ComputeApi } from "./compute-api.ts";
import { ComputeService, type ModelsWorkload } from "./compute-service.ts";
import type { RunEvent, TrainingPlan } from "./training-run.ts";

const SAMPLE = "public/sample";
/** Two steps over one decision each. */
const PLAN: TrainingPlan = {
  ...{ id: "page-000000000001", method: METHODS.opd, settings: SETTINGS, batchSize: 1, seed: 7 },
  ...{ library: "sample", endOfTurn: true, fingerprint: {}, watch: null },
  episodes: EPISODES.slice(0, 2).map(({ environment, task, episode }) => ({ environment, task, episode })),
};
const IGNORED = () => undefined;

async function sampleModel(role: Role): Promise<FolderFiles> {
  const names = ["config.json", "model.safetensors"];
  const file = async (name: string) => new File([await openAsBlob(`${SAMPLE}/${role}/${name}`)], name);
  return {
    name: role,
    files: new Map(await Promise.all(names.map(async (n) => [n, await file(n)] as const))),
  };
}

async function sampleTokenizer(): Promise<TokenizerTexts> {
  return {
    file: "tokenizer",
    tokenizerJson: await readFile(`${SAMPLE}/tokenizer/tokenizer.json`, "utf8"),
    tokenizerConfigJson: await readFile(`${SAMPLE}/tokenizer/tokenizer_config.json`, "utf8"),
  };
}

/** Episodes that are read wait until the test lets them go; null: they come at once. */
let held: Pending | null;
let ports: MessageChannel;
let api: ComputeApi;

/** Connects a library that has the toy's episodes. */
function connect(): void {
  ports = new MessageChannel();
  const tasks = {
    episode: async (_: object, id: string): Promise<Episode> => {
      await held?.promise;
      return EPISODES.find(({ episode }) => episode === id)!;
    },
    sources: () => [],
  };
  Comlink.expose({ tasks }, ports.port1);
  api.connect(ports.port2);
}

async function openModels(): Promise<void> {
  const tokenizer = await sampleTokenizer();
  api.setTokenizers({ teacher: tokenizer, student: tokenizer });
  for (const role of ["teacher", "student"] as const)
    await api.load(role, await sampleModel(role), { weights: "f32", passes: {} }, IGNORED);
}

/** A callback of the page, behind a channel that is slower than the result's. */
function slowChannel<T>() {
  const taken: T[] = [];
  let channel: Promise<unknown> = Promise.resolve();
  const take = (each: T): Promise<unknown> => {
    channel = channel.then(() => sleep(20)).then(() => taken.push(each));
    return channel;
  };
  return { taken, take };
}

beforeEach(async () => {
  held = null;
  api = new ComputeApi(new ComputeService());
  await api.start("cpu");
  connect();
});
afterEach(() => {
  ports.port1.close();
  ports.port2.close();
});

it("a model whose vocabulary lacks ids of its role’s tokenizer is refused", async () => {
  const load = async (role: Role) =>
    api.load(role, await sampleModel(role), { weights: "f32", passes: {} }, IGNORED);
  const { vocabulary } = (await load("student")).info;
  const texts = await sampleTokenizer();
  const tokenizer = JSON.parse(texts.tokenizerJson);
  tokenizer.added_tokens.push({ ...tokenizer.added_tokens[0], id: vocabulary, content: "<|far|>" });
  const larger = { ...texts, tokenizerJson: JSON.stringify(tokenizer) };
  api.setTokenizers({ teacher: texts, student: larger });
  await expect(load("student")).rejects.toThrow(/vocabulary/);
  expect((await load("teacher")).info.vocabulary).toBe(vocabulary);
});

it("measures what a run will read; a new question ends the one before", async () => {
  await openModels();
  const job: ModelsWorkload = {
    ...{ kind: "train", teacher: await sampleModel("teacher"), student: await sampleModel("student") },
    ...{ weights: "f32", limit: null },
  };
  held = new Pending();
  const before = api.planTraining(job, PLAN);
  const after = api.planTraining(job, PLAN);
  const ended = expect(before).rejects.toMatchObject({ name: "AbortError" });
  held.resolve();
  await ended;
  const { problem, work } = await after;
  expect(problem).toBeNull();
  expect(work).toBeDefined();
});

it("gives the tokens of the latest step of the run that is asked for, and stops after the present step", async () => {
  await openModels();
  const events: RunEvent[] = [];
  const training = api.train(PLAN, null, (event) => {
    events.push(event);
    if (event.type === "loop" && event.event.type === "updated") api.stop();
  });
  expect(api.latestBatch(PLAN.id)).toBeNull();
  expect(await training).toMatchObject({ steps: 1, finished: false });
  const [decision] = api.latestBatch(PLAN.id)!.decisions;
  expect(decision!.pieces).toHaveLength(decision!.ids.length);
  expect(decision!.pieces.join("")).toMatch(/^(go|take it|wait)/);
  expect(api.latestBatch("page-000000000002")).toBeNull();
});

it("ends a run once the page has taken all that was told of it", async () => {
  await openModels();
  const { taken, take } = slowChannel<RunEvent>();
  await api.train(PLAN, null, take);
  expect(taken.filter((event) => event.type === "loop").at(-1)).toMatchObject({
    event: { type: "done", step: 4 },
  });
});

it("gives the scores once the page has taken how far they were", async () => {
  await openModels();
  const { taken, take } = slowChannel<{ done: number; total: number }>();
  const asked = [{ id: "a", promptIds: [1, 2, 3], responseIds: [4, 5] }];
  const [scored] = await api.score("student", asked, {}, take);
  expect(scored!.logprobs).toHaveLength(2);
  expect(taken.at(-1)).toMatchObject({ done: 5, total: 5 });
});

it("says which part of the page it was not given", async () => {
  const unconnected = new ComputeApi(new ComputeService());
  await unconnected.start("cpu");
  expect(() => unconnected.train(PLAN, null, IGNORED)).toThrow("has no tokenizers");
});
