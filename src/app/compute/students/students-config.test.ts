import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { HORIZON, RESPONSE_TOKENS } from "../../../../scripts/miniature/task.ts";
import {
  configuredMethod,
  experimentConfigSchema,
  experimentGrid,
  type GridRun,
} from "../../../core/loop/index.ts";
import { METHOD_IDS } from "../../../core/method/index.ts";
import { sha256OfParts } from "../../../node/sha256.ts";
import { Episode } from "../../../simulator/alfworld/episode.ts";
import { Game } from "../../../simulator/alfworld/game.ts";
import { OptimalActions } from "../../../simulator/alfworld/optimal.ts";
import { madeGames } from "../../../simulator/made-games.ts";
import {
  DEFAULT_CHOICES,
  MINIATURE_LIMITS,
  STUDENT_CHOICES,
  stepsOf,
  studentConfig,
  studentGrid,
} from "./students-config.ts";

const FILES = {
  ...{ teacher: "teacher", student: "student", tokenizer: "tokenizer" },
  ...{ library: "sources.jsonl.gz", prompt: "prompt.json" },
};
const configOf = (choices: Partial<typeof DEFAULT_CHOICES> = {}) =>
  studentConfig({ ...DEFAULT_CHOICES, ...choices }, {}, FILES);

it("trains every method with every seed from the student itself, for the same steps", () => {
  const { grid } = studentGrid(configOf());
  expect(grid.cells.map(({ method, seed, parent }) => [method, seed, parent])).toEqual([
    ...["opd", "gc-opd", "hindsight-only"].map((id) => [id, 1, null]),
    ...["opd", "gc-opd", "hindsight-only"].map((id) => [id, 2, null]),
  ]);
  for (const { config: run } of grid.runs) {
    expect(run).toMatchObject({ student: "student", teacher: "teacher", batch_size: 32 });
    expect(run.parent).toBeUndefined();
  }
  expect(grid.collect).toBeNull();
});

it("is what the command makes of the saved file; only there, methods share the vanilla half that they begin with", () => {
  const written = configOf({ seeds: 1 });
  const { grid } = studentGrid(written);
  const read = experimentConfigSchema.parse(JSON.parse(JSON.stringify(written)));
  const methods = (read.methods ?? []).filter((each) => typeof each !== "string");
  const command = experimentGrid({ ...read, methods }, (name) => name);
  expect(grid.cells.map(({ run }) => run)).toEqual(command.cells.map(({ run }) => run));
  for (const { run, parent } of command.cells) {
    const [whole, rest] = [grid, command].map(({ runs }) => runs.find(({ name }) => name === run)!) as [
      GridRun,
      GridRun,
    ];
    const begun = command.runs.find(({ name }) => name === parent)!;
    const stages = (config: typeof whole.config) => configuredMethod(config).stages;
    expect(stages(whole.config).map(({ epochs }) => epochs)).toEqual(
      stages(rest.config).map(({ epochs }, n) => epochs + (n === 0 ? begun.epochs : 0)),
    );
    expect(stages(whole.config).map(({ signal }) => signal?.kind)).toEqual(
      stages(rest.config).map(({ signal }) => signal?.kind),
    );
  }
});

it("begins with the settings that were chosen before the registered trainings", () => {
  const { settings } = JSON.parse(readFileSync("configs/miniature/choice-fourth.json", "utf8"));
  expect(configOf().train.settings).toEqual(settings.all);
  expect(configOf({ maxGradNorm: 1 }).train.settings).toMatchObject({ max_grad_norm: 1 });
});

it("takes the first half vanilla, or none of it; a single step is the method's own", () => {
  const epochsOf = (choices: Partial<typeof DEFAULT_CHOICES>) =>
    configOf(choices).methods.map(({ epochs }) => epochs);
  expect(epochsOf({})).toEqual([[64], [32, 32], [32, 32]]);
  expect(epochsOf({ vanillaFirst: false })).toEqual([[64], [0, 64], [0, 64]]);
  expect(epochsOf({ steps: 1 })).toEqual([[1], [0, 1], [0, 1]]);
  const signals = (choices: Partial<typeof DEFAULT_CHOICES>) =>
    configOf({ methods: METHOD_IDS, ...choices }).methods.flatMap(({ id, signal }) =>
      signal === undefined ? [] : [id],
    );
  expect(METHOD_IDS.filter((id) => !signals({}).includes(id))).toEqual(["ftb", "grpo", "sod", "atod"]);
  expect(signals({ signal: "sampled-token" })).toEqual([]);
});

it("takes as many steps as were asked for, whatever the batch", () => {
  for (const vanillaFirst of [true, false])
    for (const steps of STUDENT_CHOICES.steps)
      for (const batch of STUDENT_CHOICES.batch)
        expect(stepsOf({ ...DEFAULT_CHOICES, steps, batch, vanillaFirst }), `${steps} × ${batch}`).toBe(
          steps,
        );
});

it("has every method of the registry, over one number of epochs", () => {
  const { grid } = studentGrid(configOf({ methods: METHOD_IDS, steps: 24, batch: 16 }));
  expect(grid.methods.map(({ id }) => id)).toEqual(METHOD_IDS);
  expect(grid.epochs).toBe(4);
});

it("refuses what the command refuses: a group that is larger than a batch", () => {
  expect(() => studentGrid(configOf({ methods: ["grpo"], batch: 4 }))).toThrow("plays each task 8 times");
});

it("passes the sources on that the page has chosen", () => {
  const written = studentConfig(DEFAULT_CHOICES, { sourcesPerTask: 4, augmentation: false }, FILES);
  expect(written.train).toMatchObject({ sources_per_task: 4, augmentation: false });
  const { grid } = studentGrid(written);
  expect(grid.runs[1]!.config.sources_per_task).toBe(4);
});

it("names the arithmetic of the page where it is not the config's own", () => {
  const { grid } = studentGrid(
    studentConfig(DEFAULT_CHOICES, {}, FILES, { compute: "f16", teacher_dtype: "int8" }),
  );
  for (const { config } of grid.runs) expect(config).toMatchObject({ compute: "f16", teacher_dtype: "int8" });
  expect(grid.evaluations[0]!.of("student")).toMatchObject({ compute: "f16" });
  const [plain] = studentGrid(configOf()).grid.runs;
  expect(plain!.config).toMatchObject({ compute: "f32", teacher_dtype: "f32" });
});

it("plays the tasks of the shipped library, within its limits, and measures on others", () => {
  const lines = gunzipSync(readFileSync("public/miniature/sources.jsonl.gz")).toString().trim().split("\n");
  const shipped = new Set(lines.map((line): string => JSON.parse(line).task));
  const { environment, evaluations } = configOf({ steps: 384, unseen: 128 });
  const played = madeGames(environment.made).map(({ task }) => task);
  expect(new Set(played)).toEqual(shipped);
  const unseen = madeGames(evaluations.unseen.environment.made);
  expect(unseen.some(({ task }) => shipped.has(task))).toBe(false);
  expect(MINIATURE_LIMITS).toEqual({ max_decisions: HORIZON, max_tokens: RESPONSE_TOKENS });
});

it("has shortest plans in its games: what the optimal player's line is drawn from", () => {
  for (const { task, make } of madeGames(configOf({ unseen: 128 }).evaluations.unseen.environment.made)) {
    const made = make();
    const episode = new Episode(new Game(made, task, { hash: sha256OfParts }));
    expect(made.walkthrough.length, task).toBe(new OptimalActions(made, episode).at(episode).distance);
  }
});
