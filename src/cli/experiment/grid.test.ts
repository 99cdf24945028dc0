import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliResult, runCli } from "../../../test/support/cli.ts";
import { gridConfig } from "../../../test/support/grid.ts";
import type { ExperimentResults } from "../../core/loop/index.ts";
import type { ExperimentCosts } from "./grid-costs.ts";
import { type GridPlan, planText } from "./grid-plan.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-grid-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, value: object): string => {
  writeFileSync(join(folder, name), JSON.stringify(value));
  return join(folder, name);
};
const run = (name: string, config: object, ...args: string[]) =>
  runCli(
    ...["experiment", "--config", write(`${name}-config.json`, config), "--out", join(folder, name)],
    ...args,
  );
const text = (...path: string[]) => readFileSync(join(folder, ...path), "utf8");
const read = <T>(...path: string[]): T => JSON.parse(text(...path));
const results = (name: string) => read<ExperimentResults>(name, "results.json");

describe("two methods and two seeds", () => {
  let first: CliResult;
  beforeAll(async () => {
    write("k1.json", { label: "One record", method: "gc-opd", sources_per_task: 1 });
    first = await run(
      "grid",
      gridConfig({ methods: ["opd", "k1.json"], checkpoints: ["final", { every: 1 }] }),
    );
  });

  it("has a table per kind of checkpoint, with training seeds and inference seeds named", () => {
    expect(first.err).not.toContain("failed: ");
    expect(first.code).toBe(0);
    const { tables, deviations, episodes_per_cell, cells } = results("grid");
    expect(deviations).toEqual([]);
    expect(tables.map(({ checkpoint }) => checkpoint)).toEqual(["final", "step-1", "step-2"]);
    expect(tables[0]).toMatchObject({
      evaluation: "alfworld",
      inference_seeds: [0],
      methods: [
        { method: "opd", training_seeds: [1, 2], sr: { n: 2 } },
        { method: "k1", label: "One record", training_seeds: [1, 2] },
      ],
      comparisons: [{ a: "k1", b: "opd", training_seeds: [1, 2] }],
      tasks: 2,
    });
    // Two epochs of two games.
    expect(episodes_per_cell).toBe(4);
    expect(cells.map(({ episodes, steps }) => [episodes.sampled, steps])).toEqual(Array(4).fill([4, 2]));
    expect(first.out).toContain("mean over 2 tasks and inference seeds 0");
    expect(first.out).toMatch(/\| One record +\| 1, 2 +\| +2 \|/);
    expect(first.out).toContain("One record − Vanilla OPD");
    expect(text("grid", "results.tex")).toContain("One record & ");
    expect(text("grid", "cells.csv").trim().split("\n")).toHaveLength(1 + 3 * 5);
  });

  it("says which cells shared a parent, and measures the parent's checkpoint once for both", () => {
    expect(results("grid").shared_parents).toEqual([
      { run: "parents/vanilla-seed-1", cells: ["cells/opd-seed-1", "cells/k1-seed-1"] },
      { run: "parents/vanilla-seed-2", cells: ["cells/opd-seed-2", "cells/k1-seed-2"] },
    ]);
    const { cells } = results("grid").tables.find(({ checkpoint }) => checkpoint === "step-1")!;
    expect(cells).toHaveLength(4);
    expect(cells[0]!.sr).toEqual(cells[1]!.sr);
  });

  it("gives the numbers of runs that never stopped", async () => {
    const { parent, epochs, first_epochs, ...whole } = read<Record<string, unknown>>(
      ...["grid", "cells", "k1-seed-2.json"],
    );
    expect([parent, whole.library]).toEqual(["../parents/vanilla-seed-2", "../library/sources.jsonl"]);
    const config = write("whole.json", { ...whole, library: join("grid", "library", "sources.jsonl") });
    const { code } = await runCli("train", "--config", config, "--out", join(folder, "whole"));
    expect(code).toBe(0);
    const weights = (...path: string[]) => readFileSync(join(folder, ...path, "student/model.safetensors"));
    expect(weights("whole").equals(weights("grid", "cells", "k1-seed-2"))).toBe(true);
    expect(weights("whole").equals(weights("grid", "cells", "k1-seed-1"))).toBe(false);
  });

  it("sums what each stage took, each part once, and a cell with its whole parent", () => {
    const { experiment, cells } = read<ExperimentCosts>("grid", "costs.json");
    expect(experiment.map(({ stage }) => stage)).toEqual([
      ...["collection", "verification", "rollout", "scoring", "update", "evaluation", "other"],
    ]);
    for (const { seconds, device, gpu_hours } of experiment) {
      expect(seconds).toBeGreaterThan(0);
      expect(device).toMatch(/^cpu /);
      expect(gpu_hours).toBe(0);
    }
    const of = (rows: readonly { stage: string; seconds: number }[], stage: string) =>
      rows.filter((row) => row.stage === stage).reduce((sum, { seconds }) => sum + seconds, 0);
    const updates = ["parents/vanilla", "cells/opd", "cells/k1"].flatMap((name) =>
      [1, 2].flatMap((seed) =>
        text("grid", `${name}-seed-${seed}`, "events.jsonl")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as { type: string; updateSeconds?: number })
          .flatMap(({ updateSeconds }) => (updateSeconds === undefined ? [] : [updateSeconds])),
      ),
    );
    expect(updates).toHaveLength(6);
    expect(of(experiment, "update")).toBeCloseTo(
      updates.reduce((a, b) => a + b, 0),
      9,
    );
    expect(of(cells[0]!.stages, "update")).toBeCloseTo(updates[0]! + updates[2]!, 9);
  });

  it("changes nothing once it is done, and refuses another config", async () => {
    const before = text("grid", "results.json");
    const config = gridConfig({ methods: ["opd", "k1.json"], checkpoints: ["final", { every: 1 }] });
    const again = await run("grid", config);
    expect(again.code).toBe(0);
    expect(again.out).toBe(first.out);
    expect(text("grid", "results.json")).toBe(before);
    const other = await run("grid", { ...config, train: { ...config.train, batch_size: 1 } });
    expect(other.err).toBe(
      `gcopd: ${join(folder, "grid", "parents", "vanilla-seed-1.json")}: this part began with another config: batch_size was 32, is 1; use another output folder or the same config\n`,
    );
    const measured = await run("grid", { ...config, evaluate: { seeds: [0, 1] } });
    expect(measured.err).toContain(
      "untrained.json: this part began with another config: seeds was [0], is [0,1]; use another output folder or the same config, or another name in `evaluations` to measure this, too",
    );
    const fewer = await run("grid", { ...config, seeds: [1] });
    expect(fewer.code).toBe(0);
    expect(fewer.err).toContain("cells/k1-seed-2, cells/opd-seed-2: of a method or seed");
    expect(results("grid").training_seeds).toEqual([1]);
  });
});

it("lists a cell that failed and runs that their budget ended, and takes the others into the table", async () => {
  const long = { id: "long", method: "gc-opd", settings: { clip: 0.1 } };
  const config = gridConfig({ methods: ["opd", "gc-opd", long], seeds: [1] });
  const whole = await run("failing", config, "--plan");
  expect(whole.code).toBe(0);
  const path = join(folder, "failing", "cells", "long-seed-1.json");
  const { code, err, out } = await run("failing", {
    ...config,
    train: { ...config.train, budget: { hours: 1e-9 } },
  });
  expect(readFileSync(path, "utf8")).toContain('"clip": 0.1');
  expect(code).toBe(1);
  expect(err).toContain("parents/vanilla-seed-1: its budget ended it before its last step");
  const { deviations, tables, cells } = results("failing");
  expect(deviations.map(({ part, kind }) => [part, kind])).toEqual([
    ["parents/vanilla-seed-1", "budget"],
    ["cells/opd-seed-1", "parent"],
    ["cells/gc-opd-seed-1", "parent"],
    ["cells/long-seed-1", "budget"],
  ]);
  expect(tables).toEqual([]);
  expect(cells.map(({ steps }) => steps)).toEqual([null, null, null]);
  expect(out).toContain("Deviations:");

  // Without a budget the same folder goes on; now one cell alone cannot, since its only checkpoint is damaged.
  mkdirSync(join(folder, "failing/cells/gc-opd-seed-1/checkpoints/step-00000002"), { recursive: true });
  const second = await run("failing", config);
  expect(second.code).toBe(1);
  const now = results("failing");
  expect(now.deviations).toMatchObject([{ part: "cells/gc-opd-seed-1", kind: "failed" }]);
  expect(now.tables[0]!.methods.map(({ method }) => method)).toEqual(["opd", "long"]);
});

it("takes methods in and out of a folder, which may be moved, with the figures of a new one", async () => {
  const config = (...methods: string[]) =>
    gridConfig({ methods, seeds: [1], checkpoints: ["final", { every: 1 }] });
  expect((await run("whole-grid", config("opd", "gc-opd"))).code).toBe(0);
  expect((await run("grown", config("opd"))).code).toBe(0);
  const refused = await run("grown", { ...config("opd", "gc-opd"), train: { batch_size: 1 } });
  expect(refused.err).toContain("cells/opd-seed-1.json: this part began with another config: batch_size");
  expect(existsSync(join(folder, "grown/parents"))).toBe(false);

  renameSync(join(folder, "grown"), join(folder, "moved"));
  const more = await run("moved", config("opd", "gc-opd"));
  expect([more.code, more.err]).toEqual([0, expect.not.stringContaining("cells/opd-seed-1: training")]);
  expect(results("moved").cells.map(({ parent }) => parent)).toEqual([null, "parents/vanilla-seed-1"]);
  const { tables, episodes_per_cell } = results("whole-grid");
  expect(results("moved")).toMatchObject({ tables, episodes_per_cell, deviations: [] });
  for (const cell of ["opd-seed-1", "gc-opd-seed-1"]) {
    const weights = (name: string) =>
      readFileSync(join(folder, name, "cells", cell, "student/model.safetensors"));
    expect(weights("moved").equals(weights("whole-grid")), cell).toBe(true);
  }

  renameSync(join(folder, "whole-grid"), join(folder, "elsewhere"));
  const fewer = await run("elsewhere", config("gc-opd"));
  expect([fewer.code, fewer.err]).toEqual([0, expect.not.stringContaining("training")]);
  expect(results("elsewhere").tables[0]!.cells).toEqual(
    tables[0]!.cells.filter(({ method }) => method === "gc-opd"),
  );
});

it("refuses a library that is not there, and so does its plan", async () => {
  const config = gridConfig({ methods: ["opd"], library: "nowhere.jsonl" });
  for (const args of [[], ["--plan"]]) {
    const { code, err } = await run("missing", config, ...args);
    expect(code).toBe(1);
    expect(err).toBe(
      `gcopd: ${join(folder, "missing-config.json")}, library: expected sources in ${join(folder, "nowhere.jsonl")}: no such file\n`,
    );
  }
  expect(existsSync(join(folder, "missing"))).toBe(false);
});

it("evaluates the best checkpoint by the validation, the parent's among them", async () => {
  const config = gridConfig({
    methods: ["opd", "gc-opd"],
    seeds: [1],
    checkpoints: ["best"],
    train: { evaluate: { every: 1, seeds: [5] } },
  });
  const { code } = await run("best", config);
  expect(code).toBe(0);
  expect(results("best").tables.map(({ checkpoint }) => checkpoint)).toEqual(["best"]);
  // Nothing is won: of equal ones the first, which is the parent's end.
  const { model } = read<{ model: string }>("best", "evaluations/alfworld/cells/opd-seed-1/best.json");
  expect(model).toBe("../../../../parents/vanilla-seed-1/checkpoints/step-00000001");
  // The same student is the best of both cells: it was played once.
  expect(existsSync(join(folder, "best/evaluations/alfworld/cells/gc-opd-seed-1"))).toBe(false);
  const { methods, cells } = results("best").tables[0]!;
  expect(methods.map(({ method }) => method)).toEqual(["opd", "gc-opd"]);
  expect(cells[0]!.sr).toEqual(cells[1]!.sr);
});

describe("--plan", () => {
  it("tells parts, work and memory, and with --out writes the configs, which their own commands run", async () => {
    const config = gridConfig({ methods: ["opd", "gc-opd"], seeds: [1] });
    const { code, out } = await run("planned", config, "--plan");
    expect(code).toBe(0);
    const { parts, later, work, memory, projected } = JSON.parse(out) as GridPlan;
    expect(later).toEqual([]);
    expect(parts.map(({ name }) => name)).toEqual([
      "library",
      "evaluations/alfworld/untrained",
      "parents/vanilla-seed-1",
      "cells/opd-seed-1",
      "evaluations/alfworld/cells/opd-seed-1/final",
      "cells/gc-opd-seed-1",
      "evaluations/alfworld/cells/gc-opd-seed-1/final",
    ]);
    // A parent and two cells of one epoch, two games each; the student before and two after.
    expect(work).toEqual({ tasks: 2, executions: 2, training_episodes: 6, evaluation_episodes: 6 });
    expect(memory.map(({ method, problem }) => [method, problem])).toEqual([
      ["opd", null],
      ["gc-opd", null],
    ]);
    expect(memory[0]!.total).toBeGreaterThan(0);
    expect(projected).toBeNull();
    // By hand, in the order of the plan, then the experiment itself: nothing is left to do but the tables.
    for (const { command } of parts) {
      const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, word, bare]) => word ?? bare!);
      expect((await runCli(...words.slice(1))).code, command).toBe(0);
    }
    const done = await run("planned", config);
    expect(done.code).toBe(0);
    expect(done.err).not.toContain("training");
    expect(results("planned").tables[0]!.methods).toHaveLength(2);
  });

  it("counts the checkpoints of each method by its own batch size", async () => {
    const config = gridConfig({
      methods: ["opd", { id: "small-batches", method: "opd", batch_size: 1 }],
      ...{ seeds: [1], checkpoints: [{ every: 1 }] },
    });
    const { code, out } = await run("batch-sizes", config, "--plan");
    expect(code).toBe(0);
    // Two epochs of two games, in one batch and in two: 2 and 4 students and the untrained one, on two games each.
    const plan = JSON.parse(out) as GridPlan;
    expect(plan.work.evaluation_episodes).toBe(2 * (2 + 4 + 1));
    // Which these are is known after the runs: they are no parts with configs yet.
    expect(plan.later).toEqual([
      "evaluations/alfworld/cells/opd-seed-1/step-*",
      "evaluations/alfworld/cells/small-batches-seed-1/step-*",
    ]);
    expect(planText(plan)).toContain("Evaluations of checkpoints (step-*) come after their runs");
  });

  it("probes the cost on a few tasks and takes it to the whole", async () => {
    const config = gridConfig({ methods: ["gc-opd"], seeds: [1, 2, 3], gpus: 2, price_per_gpu_hour: 3 });
    const { code, out } = await run("probed", config, "--plan", "--probe", "1");
    expect(code).toBe(0);
    const { projected } = JSON.parse(out) as GridPlan;
    expect(projected!.tasks).toBe(1);
    const stages = Object.fromEntries(projected!.stages.map((stage) => [stage.stage, stage]));
    expect(Object.keys(stages)).toEqual([
      ...["collection", "verification", "rollout", "scoring", "update", "evaluation", "other"],
    ]);
    const { seconds, gpu_hours, price } = stages.update!;
    expect(seconds.low).toBeGreaterThan(0);
    expect(gpu_hours.low).toBeCloseTo((2 * seconds.low) / 3600, 12);
    expect(price!.high).toBeCloseTo(3 * gpu_hours.high, 12);
    // Opening models: once for each seed at least, with the tasks at most, of which there are twice as many.
    expect(stages.other!.seconds.high).toBeCloseTo(2 * stages.other!.seconds.low, 9);
  });

  it("walks the schedules of methods that play other parts of an episode later", async () => {
    const config = gridConfig({
      environment: {
        name: "alfworld",
        made: { count: 8, seed: 0, size: "mini" },
        ...{ max_decisions: 9, max_tokens: 1 },
      },
      ...{ methods: ["tcod-f2b", "tcod-b2f"], seeds: [1], train: { batch_size: 1 } },
    });
    const { code, out } = await run("schedules", config, "--plan", "--probe", "1");
    expect(code).toBe(0);
    const plan = JSON.parse(out) as GridPlan;
    const { scheduled, stages } = plan.projected!;
    // Two epochs of eight updates. Forward with η = 6 of whole episodes of 9: 1, 2 and 3 decisions in 6, 6 and 4 updates.
    // Backward with η = 5, behind a reference of 6 actions: from 1 to 4, 5, 6 and 7 in 5, 5, 5 and 1.
    expect(scheduled).toEqual([
      { method: "tcod-f2b", decisions: { low: 30 / 16, high: 30 / 16 } },
      { method: "tcod-b2f", decisions: { low: 1, high: 82 / 16 } },
    ]);
    for (const { stage, seconds } of stages)
      if (stage === "rollout" || stage === "update") expect(seconds.high).toBeGreaterThan(seconds.low);
    expect(planText(plan)).toContain("tcod-f2b 1.88, tcod-b2f 1.00–5.13.");
  });

  it("is of a comparison only", async () => {
    const { seeds: _, ...single } = gridConfig({});
    const { code, err } = await run("single", single, "--plan");
    expect([code, err]).toEqual([1, expect.stringContaining("methods: missing")]);
  });
});
