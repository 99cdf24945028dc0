/** A training run with each of its file operations going wrong once. Its models are toys, its files are real. */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { corridor } from "../../../test/support/corridor.ts";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { type Fault, FileFaults, QUICK } from "../../../test/support/file-faults.ts";
import { tinyRecords } from "../../../test/support/tiny-records.ts";
import { ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { InputError } from "../../core/errors.ts";
import { type LiveTask, type TrainConfig, trainConfigSchema } from "../../core/loop/index.ts";
import { METHODS } from "../../core/method/index.ts";
import type { FolderReader } from "../../core/ports.ts";
import { runTraining } from "./run.ts";
import type { TrainingRun } from "./training-run.ts";

/** Tasks of runs that play in an environment. */
const live: { tasks: LiveTask[] } = {
  tasks: ["a", "b"].map((task) => ({
    ...{ environment: "alfworld", task, maxDecisions: 1, maxTokens: 2 },
    open: async () => corridor(),
  })),
};

vi.mock("./inputs.ts", () => ({
  readInputs: async ({ config }: Pick<TrainingRun, "config">) => ({
    method: { ...METHODS.opd, stages: METHODS.opd.stages.map((stage) => ({ ...stage, epochs: 1 })) },
    parent: null,
    games: config.environment === undefined ? null : { ...live, digest: "", atOnce: 1 },
    episodes: tinyRecords().episodes.slice(0, 2),
    tokenizer: { codec: { ...toyCodec, endOfTurn: config.end_of_turn } },
    sources: async () => [],
    close: async () => undefined,
  }),
}));
vi.mock("./models.ts", () => ({
  withModels: async (_run: unknown, _inputs: unknown, work: (models: object) => unknown) =>
    work({
      teacher: new ToyModel(1, "teacher"),
      openStudent: async (folder: FolderReader | null) =>
        folder === null ? new ToyModel(2) : ToyModel.open(folder),
      fingerprint: {},
    }),
}));

const STEPS = 2;
/** Milliseconds that a test may take on a machine that does other work. */
const SLOW = 600_000;
let folder: string;
let out: string;
/** What the latest run noted. */
const notes: string[] = [];
/** Files of a run that nothing went wrong in. */
let whole: { student: string; metrics: object[] };
let files: FileFaults;

beforeAll(async () => {
  files = await FileFaults.install();
  folder = mkdtempSync(join(QUICK, "gcopd-run-faults-"));
  mkdirSync(join(folder, "student"));
  out = join(folder, "whole");
  expect(await run()).toEqual({ error: null, confirmed: STEPS, resumedFrom: null });
  whole = filesOf(out);
  // A run that was stopped after its first step, for those that go on.
  out = join(folder, "stopped");
  expect(await run(1)).toEqual({ error: null, confirmed: 1, resumedFrom: null });
});
afterEach(() => files.disarm());
afterAll(() => {
  files.restore();
  rmSync(folder, { recursive: true });
});

interface Outcome {
  error: unknown;
  /** The last step whose checkpoint was confirmed. */
  confirmed: number;
  resumedFrom: number | null;
}

/** Runs or continues the run in `out`; what it throws is kept, and so is what it told. */
async function run(stopAfter?: number, changes: object = {}): Promise<Outcome> {
  const outcome: Outcome = { error: null, confirmed: 0, resumedFrom: null };
  notes.length = 0;
  const stop = new AbortController();
  try {
    await runTraining({
      config: trainConfigSchema.parse({
        episodes: "none",
        teacher: join(folder, "student"),
        student: join(folder, "student"),
        method: "opd",
        batch_size: 1,
        settings: { learning_rate: 0.5 },
        keep_checkpoints: 1,
        ...changes,
      }),
      configFile: "config.json",
      out,
      stop: stop.signal,
      onNote: (note) => notes.push(note),
      onEvent: (event) => {
        if (event.type === "start") outcome.resumedFrom = event.resumedFrom;
        if (event.type === "checkpoint") outcome.confirmed = event.step;
        if (event.type === "updated" && event.step === stopAfter) stop.abort();
      },
    });
  } catch (error) {
    outcome.error = error;
  }
  return outcome;
}

const lines = (file: string): Record<string, unknown>[] =>
  readFileSync(join(out, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

function filesOf(path: string): { student: string; metrics: object[] } {
  return {
    student: createHash("sha256")
      .update(readFileSync(join(path, "student", "toy.bin")))
      .digest("hex"),
    metrics: lines("metrics.jsonl").map(({ seconds: _, tokensPerSecond: __, ...rest }) => rest),
  };
}

/** The folder of a run that is to begin, or of one that has. */
function begin(begun: string | null): string {
  out = join(folder, "out");
  rmSync(out, { recursive: true, force: true });
  if (begun !== null) cpSync(join(folder, begun), out, { recursive: true });
  // What a kill left.
  if (begun !== null) mkdirSync(join(out, "checkpoints", ".step-00000002.0123456789ab.part"));
  return out;
}

async function faulty(fault: Fault, begun: string | null): Promise<void> {
  const before = begun === null ? 0 : 1;
  const first = await run(begun === null ? 1 : undefined);
  files.disarm();
  if (first.error !== null) {
    expect(first.error).toBeInstanceOf(InputError);
    expect((first.error as Error).message).toMatch(/^[^\n]+: [^\n]+$/);
  }
  // Short reads and writes are not faults: what is left is read or written.
  if (fault === "short") expect(first.error).toBeNull();

  const again = await run();
  expect(again.error).toBeNull();
  expect(again.resumedFrom ?? 0).toBeGreaterThanOrEqual(Math.max(before, first.confirmed));
  expect(filesOf(out)).toEqual(whole);
  const steps = lines("events.jsonl").filter(({ type }) => type === "updated");
  expect(steps.map(({ step }) => step)).toEqual([1, 2]);
  expect(lines("batch.jsonl")[0]).toMatchObject({ step: STEPS });
  // One more than asked for may be left where it could not be removed; nothing half-made is.
  expect(["step-00000002", "step-00000001,step-00000002"]).toContain(
    readdirSync(join(out, "checkpoints")).join(),
  );
  expect(readdirSync(join(out, "student")).filter((name) => name.endsWith(".part"))).toEqual([]);
}

describe.each(["short", "EIO", "ENOSPC", "EMFILE"] as const)(
  "%s at every file operation, one after the other",
  (fault) => {
    it.each([
      ["a run's first step", null],
      ["a run that goes on", "stopped"],
    ])(
      "%s: ends in one line or not at all, and goes on to the same numbers",
      async (_, begun) => {
        const met = await files.each(
          fault,
          () => begin(begun),
          () => faulty(fault, begun),
        );
        expect(met.length).toBeGreaterThan(10);
      },
      SLOW,
    );
  },
);

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/cli/train/run-faults.test.ts"])).toEqual([]);
});

it("goes on without an end-of-turn token where an earlier version began, and only there", async () => {
  const end_of_turn = (path: string) =>
    (JSON.parse(readFileSync(join(folder, path, "config.json"), "utf8")) as TrainConfig).end_of_turn;
  const fingerprint = (path: string, name: string) =>
    (
      JSON.parse(readFileSync(join(folder, path, "checkpoints", name, "checkpoint.json"), "utf8")) as {
        fingerprint: object;
      }
    ).fingerprint;
  expect(end_of_turn("whole")).toBe(true);
  expect(fingerprint("whole", "step-00000002")).toHaveProperty("end_of_turn");
  // A checkpoint without the token has the fingerprint of one from before there was a choice.
  out = join(folder, "earlier");
  expect(await run(1, { end_of_turn: false })).toMatchObject({ error: null, confirmed: 1 });
  expect(fingerprint("earlier", "step-00000001")).not.toHaveProperty("end_of_turn");
  const { error } = await run(undefined, { end_of_turn: true });
  expect(String(error)).toContain("this checkpoint is of another run: it differs in end_of_turn;");
  expect(await run()).toMatchObject({ error: null, resumedFrom: 1, confirmed: 2 });
  expect(notes).toEqual([
    "no end-of-turn token after responses recorded as text: the run in this folder began without it",
  ]);
  expect(end_of_turn("earlier")).toBe(false);
});

it("goes on with the end of turn in a live environment, though its checkpoints never record it", async () => {
  const changes = { episodes: undefined, environment: { name: "alfworld" } };
  out = join(folder, "live");
  expect(await run(1, changes)).toMatchObject({ error: null, confirmed: 1 });
  const config = readFileSync(join(out, "config.json"), "utf8");
  expect(await run(undefined, changes)).toMatchObject({ error: null, resumedFrom: 1, confirmed: 2 });
  expect(notes).toEqual([]);
  expect(readFileSync(join(out, "config.json"), "utf8")).toBe(config);
});

it(
  "a disk that stays full ends a run in one line, wherever it becomes so",
  async () => {
    const hit = await files.each(
      "full",
      () => begin(null),
      async () => {
        const { error, confirmed } = await run();
        files.disarm();
        if (error !== null) expect((error as Error).message).toMatch(/^[^\n]+: [^\n]+$/);
        const again = await run();
        expect(again).toMatchObject({ error: null });
        expect(again.resumedFrom ?? 0).toBeGreaterThanOrEqual(confirmed);
        expect(filesOf(out)).toEqual(whole);
      },
    );
    expect(hit.length).toBeGreaterThan(10);
  },
  SLOW,
);
