/** train, stopped, killed, continued, and begun from another run's checkpoint. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildCli, runCli, type SignalAt, startCli } from "../../../test/support/cli.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import {
  digest,
  eachInItsFolder,
  events,
  figures,
  inFolder,
  lines,
  train,
  weights,
  writeConfig,
} from "../../../test/support/train-runs.ts";

let script: string;

beforeAll(async () => {
  script = await buildCli("train");
});
afterAll(() => rmSync(join(script, ".."), { recursive: true, force: true }));
eachInItsFolder();

describe("a budget", () => {
  it("ends a run without a step where none fits, and a larger one lets it go on to the same numbers", async () => {
    const config = writeConfig({ budget: { hours: 1000 } });
    // A third of a millisecond: it is spent before the models are open.
    const none = await train(config, "run", "--hours", "1e-7");
    expect(none).toMatchObject({
      code: 3,
      err: expect.stringMatching(
        /ended by its budget after step 0 of 4: \S+ of 1e-7 hours are spent; with a larger budget it goes on/,
      ),
    });
    const [first] = lines("run", "events.jsonl").filter(({ type }) => type === "start");
    expect(await train(config, "run", "--progress", "json")).toMatchObject({ code: 0 });
    const start = lines("run", "events.jsonl").findLast(({ type }) => type === "start");
    expect(Number(start?.spent)).toBeGreaterThan(Number(first?.spent));
    expect(await train(writeConfig(), "whole")).toMatchObject({ code: 0 });
    expect(figures("run")).toEqual(figures("whole"));
    expect(weights("run")).toBe(weights("whole"));
  });

  it("in GPU-hours needs the number of GPUs", async () => {
    const config = writeConfig({ budget: { gpu_hours: 3 } });
    expect(await train(config, "run")).toMatchObject({
      code: 1,
      err: `gcopd: ${config}, budget.gpus: missing: gpu_hours counts only with it\n`,
    });
  });
});

describe("interrupted runs go on to the same numbers", () => {
  /** What an uninterrupted run gave; the runs below differ from it in nothing but when they were interrupted. */
  let whole: { weights: string; optimizer: string; figures: object[] };

  async function uninterrupted(config: string) {
    if (whole === undefined) {
      expect(await train(config, "whole")).toMatchObject({ code: 0 });
      whole = { weights: weights("whole"), optimizer: optimizer("whole"), figures: figures("whole") };
    }
    return whole;
  }

  const optimizer = (out: string) =>
    digest(inFolder(out, "checkpoints", "step-00000004", "optimizer.safetensors"));

  /** Runs the command in a process of its own. */
  const start = (config: string, out: string, at: SignalAt) =>
    startCli(script, ["train", "--config", config, "--out", inFolder(out), "--progress", "json"], { at });

  it.each([
    ["scored", 1],
    ["updated", 2],
    ["checkpoint", 3],
  ] as const)("kill -9 at `%s` of step %i", async (type, step) => {
    const config = writeConfig();
    const expected = await uninterrupted(config);
    const killed = start(config, "killed", { type, step, signal: "SIGKILL" });
    expect((await killed.ended).signal).toBe("SIGKILL");
    expect(existsSync(inFolder("killed", "student"))).toBe(false);
    const again = await train(config, "killed", "--progress", "json");
    expect(again).toMatchObject({ code: 0 });
    expect(weights("killed")).toBe(expected.weights);
    expect(figures("killed")).toEqual(expected.figures);
    expect(optimizer("killed")).toBe(expected.optimizer);
    const steps = lines("killed", "events.jsonl").filter((event) => event.type === "updated");
    expect(steps.map((event) => event.step)).toEqual([1, 2, 3, 4]);
    const left = readdirSync(inFolder("killed", "checkpoints"));
    expect(left).toEqual(["step-00000003", "step-00000004"]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("%s ends after the step, with a checkpoint", async (signal) => {
    const config = writeConfig();
    const expected = await uninterrupted(config);
    const stopped = start(config, "stopped", { type: "step", step: 2, signal });
    expect(await stopped.ended).toEqual({ code: signal === "SIGINT" ? 130 : 143, signal: null });
    const last = events(stopped.output.out).at(-1)!;
    expect(last.type).toBe("stopped");
    expect(readdirSync(inFolder("stopped", "checkpoints")).length).toBeGreaterThan(0);
    expect(await train(config, "stopped")).toMatchObject({ code: 0 });
    expect(weights("stopped")).toBe(expected.weights);
  });

  it("a damaged newest checkpoint: from the one before, and says so", async () => {
    const config = writeConfig();
    const expected = await uninterrupted(config);
    expect(await train(config, "damaged")).toMatchObject({ code: 0 });
    const checkpoints = inFolder("damaged", "checkpoints");
    const file = join(checkpoints, "step-00000004", "model.safetensors");
    const bytes = readFileSync(file);
    bytes[bytes.length - 100]! ^= 1;
    writeFileSync(file, bytes);
    const again = await train(config, "damaged");
    expect(again.code).toBe(0);
    const told =
      "step-00000004 is damaged (model.safetensors does not have the SHA-256 that it was written with); going on after step 3, from the one before";
    expect(again.err.split("\n")).toContain(told);
    expect(lines("damaged", "events.jsonl").filter(({ type }) => type === "damaged")).toEqual([
      expect.objectContaining({ step: 3, checkpoint: "step-00000004" }),
    ]);
    expect(weights("damaged")).toBe(expected.weights);
    expect(figures("damaged")).toEqual(expected.figures);

    for (const name of readdirSync(checkpoints)) {
      const state = join(checkpoints, name, "checkpoint.json");
      writeFileSync(state, readFileSync(state, "utf8").replace(/"stage": \d+/, '"stage": 9'));
    }
    const refused = await train(config, "damaged");
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /^gcopd: .*checkpoints: no checkpoint here can be used \(step-00000004: checkpoint\.json does not have/m,
    );
  });

  it("a finished run is not run again", async () => {
    const config = writeConfig();
    expect(await train(config, "out")).toMatchObject({ code: 0 });
    const before = weights("out");
    const again = await train(config, "out", "--progress", "json");
    expect(events(again.out).map(({ type }) => type)).toEqual(["start", "done"]);
    expect(weights("out")).toBe(before);
  });

  it("a folder that another run works in is refused", async () => {
    const config = writeConfig();
    const run = start(config, "out", { type: "start", signal: "SIGSTOP" });
    await expect.poll(() => run.output.out).toContain('"type":"start"');
    const refused = await train(config, "out");
    run.child.kill("SIGCONT");
    expect((await run.ended).code).toBe(0);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/^gcopd: .*out: another run works in this folder/m);
  });
});

describe("a run that begins from another run's checkpoint", () => {
  const newest = (out: string) => {
    const checkpoints = inFolder(out, "checkpoints");
    return join(checkpoints, readdirSync(checkpoints).sort().at(-1)!);
  };

  const small = { limit: 2, batch_size: 1 };

  it("gives the same batches, losses, weights and moments as the run that never stopped", async () => {
    expect(await train(writeConfig(small), "whole")).toMatchObject({ code: 0 });
    expect(await train(writeConfig({ ...small, epochs: [1, 0] }), "vanilla")).toMatchObject({ code: 0 });
    const config = writeConfig({ ...small, epochs: [0, 1], parent: "vanilla" });
    const told = await train(config, "child", "--progress", "json");
    expect(told).toMatchObject({ code: 0 });
    expect(events(told.out)[0]).toMatchObject({ steps: 4, parent: { name: newest("vanilla"), step: 2 } });
    const result = (out: string) => ({
      weights: weights(out),
      optimizer: digest(join(newest(out), "optimizer.safetensors")),
      figures: figures(out).slice(-2),
      batches: lines(out, "events.jsonl")
        .flatMap(({ type, units }) => (type === "step" ? [units] : []))
        .slice(-2),
    });
    expect(result("child")).toEqual(result("whole"));
    expect(figures("child")).toHaveLength(2);
    const { fingerprint } = JSON.parse(readFileSync(join(newest("child"), "checkpoint.json"), "utf8"));
    expect(fingerprint.parent).toMatch(/^[0-9a-f]{64}$/);
    // The second epoch of plain distillation is another child of the same parent.
    expect(await train(writeConfig({ ...small, method: "opd" }), "opd")).toMatchObject({ code: 0 });
    const second = { ...small, method: "opd", parent: "vanilla", epochs: [1], first_epochs: [1] };
    expect(await train(writeConfig(second), "second")).toMatchObject({ code: 0 });
    expect(result("second")).toEqual(result("opd"));
    // Its own checkpoints are of no child of another parent.
    const other = writeConfig({ ...small, epochs: [0, 1], parent: newest("whole") });
    expect((await train(other, "child")).err).toMatch(
      /this checkpoint is of another run: it differs in parent;/,
    );
  });

  it("plans with the parent's model, and refuses what is not a parent of this student", async () => {
    const vanilla = { epochs: [1, 0], limit: 1, end_of_turn: false };
    expect(await train(writeConfig(vanilla), "vanilla")).toMatchObject({ code: 0 });
    const refused = async (changes: object, message: RegExp) => {
      const result = await train(writeConfig({ epochs: [0, 1], limit: 1, ...changes }), "out");
      expect(result).toMatchObject({ code: 1, err: expect.stringMatching(message) });
      expect(existsSync(inFolder("out"))).toBe(false);
    };
    await refused({ parent: "nowhere" }, /nowhere: no such folder/);
    await refused({ parent: "vanilla/student" }, /vanilla\/student, parent: expected a run's folder/);
    await refused(
      { parent: "vanilla", student: modelFixture("qwen3-b") },
      /step-0+1, parent: its run began from another student than .*qwen3-b/,
    );
    const second = { method: "opd", parent: "vanilla", epochs: [1] };
    await refused(
      { ...second, first_epochs: [2] },
      /first_epochs: expected a parent that ends after 2 epochs of stage 1; .*step-0+1 ends after 1 epoch of stage 1/,
    );
    await refused({ ...second, first_epochs: [1, 0] }, /config\.json, first_epochs: 2 entries for 1 stages/);
    await refused(
      { ...second, parent: undefined, first_epochs: [1] },
      /first_epochs: needs `parent`, which took the earlier epochs/,
    );
    const planned = (changes: object = {}) =>
      runCli(
        ...["train", "--config", writeConfig({ epochs: [0, 1], limit: 1, parent: "vanilla", ...changes })],
        "--plan",
      );
    const plan = await planned();
    expect(JSON.parse(plan.out).work).toMatchObject({ epochs: 1, steps: 1 });
    const note = `the parent ${newest("vanilla")} was trained without it; end_of_turn: false leaves it out`;
    expect(plan.err).toContain(note);
    expect((await planned({ end_of_turn: false })).err).not.toContain("end-of-turn");
    // Sampled responses end with the token, and no checkpoint records that.
    writeFileSync(inFolder("vanilla", "config.json"), JSON.stringify({ sample: {} }));
    expect((await planned()).err).not.toContain("end-of-turn");
  });
});
