/** train, as the command line runs it: whole, stopped, killed, continued, and refused. */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildCli, runCli, startCli } from "../../../test/support/cli.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { tinyRecords } from "../../../test/support/tiny-records.ts";
import { nextRelease, tokenizerFiles } from "../../../test/support/tokenizers.ts";
import type { TrainEvent } from "../../core/loop/index.ts";

let folder: string;
let script: string;

beforeAll(async () => {
  script = await buildCli("train");
});
afterAll(() => rmSync(join(script, ".."), { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-"));
  const { sources, episodes } = tinyRecords();
  const text = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
  writeFileSync(join(folder, "sources.jsonl"), text(sources));
  writeFileSync(join(folder, "episodes.jsonl"), text(episodes));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeConfig(changes: object = {}, name = "config.json"): string {
  const path = join(folder, name);
  const config = {
    library: "sources.jsonl",
    episodes: "episodes.jsonl",
    teacher: modelFixture("qwen3-b"),
    student: modelFixture("qwen3-a"),
    tokenizer: modelFixture("tokenizer"),
    batch_size: 2,
    settings: { learning_rate: 1e-4 },
    seed: 3,
    device: "cpu",
    ...changes,
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
const weightsOf = (model: string) => digest(join(model, "model.safetensors"));
const weights = (out: string) => weightsOf(join(folder, out, "student"));
/** The run's events among what it printed; how far a step is comes by the clock. */
const events = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as TrainEvent | { type: "work" })
    .filter((event) => event.type !== "work");
const lines = (out: string, file: string) =>
  readFileSync(join(folder, out, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string; step: number });
const train = (config: string, out: string, ...args: string[]) =>
  runCli("train", "--config", config, "--out", join(folder, out), ...args);

/** What a run figures, without what a clock says. */
function figures(out: string): object[] {
  return lines(out, "metrics.jsonl").map(({ seconds: _, tokensPerSecond: __, ...rest }) => rest);
}

describe("a whole run", () => {
  it("does vanilla, then graph-conditioned, and writes student, events and metrics", async () => {
    const result = await train(writeConfig(), "out", "--progress", "json");
    expect(result).toMatchObject({ code: 0, err: "" });
    const told = events(result.out);
    expect(told.map(({ type }) => type).filter((type) => type !== "checkpoint")).toEqual([
      "start",
      ...["stage", "epoch", "step", "scored", "updated", "step", "scored", "updated"],
      ...["stage", "epoch", "step", "scored", "updated", "step", "scored", "updated"],
      "done",
    ]);
    const scored = told.filter((event) => event.type === "scored");
    expect(scored.map(({ successReferences }) => successReferences)).toEqual([
      0,
      0,
      ...[expect.any(Number), expect.any(Number)],
    ]);
    expect(scored.slice(2).every(({ successReferences, decisions }) => successReferences === decisions)).toBe(
      true,
    );
    expect(scored[2]!.contextTokens).toBeGreaterThan(2 * scored[0]!.contextTokens);
    expect(readdirSync(join(folder, "out")).sort()).toEqual([
      "batch.jsonl",
      "checkpoints",
      "config.json",
      "events.jsonl",
      "lock.sqlite",
      "metrics.jsonl",
      "student",
      "tokenizer",
    ]);
    expect(readdirSync(join(folder, "out", "tokenizer"))).toContain("tokenizer.json");
    expect(readdirSync(join(folder, "out", "checkpoints"))).toEqual(["step-00000003", "step-00000004"]);
    expect(readdirSync(join(folder, "out", "student")).sort()).toEqual([
      "config.json",
      "generation_config.json",
      "model.safetensors",
      "tokenizer.json",
      "tokenizer_config.json",
    ]);
    expect(lines("out", "metrics.jsonl").map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    const [batch, ...decisions] = lines("out", "batch.jsonl") as Record<string, unknown>[];
    const last = lines("out", "metrics.jsonl").at(-1)!;
    expect(batch).toEqual({ step: 4, decisions: last.decisions });
    expect(decisions).toHaveLength(last.decisions as number);
    const tokens = decisions.flatMap((decision) => decision.advantage as number[]);
    expect(tokens).toHaveLength(last.tokens as number);
    expect(tokens.reduce((sum, each) => sum + each, 0) / tokens.length).toBeCloseTo(
      last.meanAdvantage as number,
      5,
    );
    expect(decisions.every(({ ids, tokens: pieces }) => (ids as []).length === (pieces as []).length)).toBe(
      true,
    );
    expect(lines("out", "events.jsonl").map(({ type }) => type)).toEqual(told.map(({ type }) => type));
    // The student can be scored as it stands.
    writeFileSync(join(folder, "in.jsonl"), '{"id":"a","prompt_ids":[1,2],"response_ids":[3]}\n');
    const scoring = [
      "--model",
      join(folder, "out", "student"),
      "--in",
      join(folder, "in.jsonl"),
      "--device",
      "cpu",
    ];
    expect((await runCli("score", ...scoring)).code).toBe(0);
  });

  it("prints what a run needs, cuts its passes to a limit, and refuses what does not fit before it starts", async () => {
    const planned = await runCli("train", "--config", writeConfig(), "--plan");
    expect(planned).toMatchObject({ code: 0, err: "" });
    const plan = JSON.parse(planned.out) as {
      total: number;
      items: { name: string; part: string; bytes: number }[];
      pack_tokens: { teacher: number; student: number };
      work: Record<string, number>;
      problem: string | null;
    };
    expect(plan.problem).toBeNull();
    expect(plan.work).toMatchObject({ epochs: 2, steps: 4, episodes: expect.any(Number) });
    expect(plan.work.teacher_tokens).toBeGreaterThan(plan.work.student_tokens!);
    expect(plan.work.student_tokens).toBeGreaterThan(plan.work.response_tokens!);
    expect(plan.items.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(plan.total);
    const of = (part: string) => plan.items.filter((item) => item.part === part).map(({ name }) => name);
    expect(of("weights")).toEqual(
      expect.arrayContaining(["teacher: weights (f32)", "student: weights (f32)"]),
    );
    expect(of("training state")).toEqual(["student: gradients", "student: optimizer state"]);
    // One of the two computes at a time.
    expect(new Set(of("activations").map((name) => name.split(":")[0])).size).toBe(1);

    const refused = await train(writeConfig({ memory_limit_gib: 0.001 }), "refused");
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /needs more than the 1\.0 MiB that it may take: memory: about .*optimizer state/,
    );
    expect(existsSync(join(folder, "refused"))).toBe(false);
    const tooLarge = await runCli("train", "--config", writeConfig({ memory_limit_gib: 0.001 }), "--plan");
    expect(JSON.parse(tooLarge.out).problem).toContain("needs more than the 1.0 MiB");
    const limit = String((plan.total - 1) / 2 ** 30);
    const shorter = await runCli("train", "--config", writeConfig(), "--plan", "--memory-limit", limit);
    const cut = JSON.parse(shorter.out) as typeof plan;
    expect(cut.pack_tokens.teacher + cut.pack_tokens.student).toBeLessThan(
      plan.pack_tokens.teacher + plan.pack_tokens.student,
    );
    expect((await runCli("train", "--config", writeConfig())).err).toContain("--out is missing");
  });

  it("measures the time of a run on a small part of it, and writes nothing", async () => {
    const config = writeConfig();
    const before = readdirSync(folder);
    const student = weightsOf(modelFixture("qwen3-a"));
    const { code, out, err } = await runCli("train", "--config", config, "--plan", "--probe");
    expect(code).toBe(0);
    expect(err).toMatch(/^probe: the student takes a step on \d+ tokens$/m);
    type Part = { sequences: number; tokens: number; seconds: number };
    const { time, work } = JSON.parse(out) as {
      time: { low: number; high: number; teacher: Part[]; student: Part[] };
      work: { teacher_tokens: number };
    };
    expect(time.low).toBeGreaterThan(0);
    expect(time.high).toBeGreaterThanOrEqual(time.low);
    for (const parts of [time.teacher, time.student])
      for (const { sequences, tokens, seconds } of parts) {
        expect(sequences).toBeGreaterThanOrEqual(1);
        expect(tokens).toBeLessThan(work.teacher_tokens);
        expect(seconds).toBeGreaterThan(0);
      }
    expect(readdirSync(folder)).toEqual(before);
    expect(weightsOf(modelFixture("qwen3-a"))).toBe(student);
    const played = await runCli(
      ...["train", "--config", writeConfig({ sample: { max_tokens: 4 } }), "--plan", "--probe"],
    );
    expect(JSON.parse(played.out).time).toBeNull();
    expect(await runCli("train", "--config", config, "--out", join(folder, "x"), "--probe")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--probe goes with --plan"),
    });
  });

  it("trains on the episodes that are named, and names those that are not there", async () => {
    const id = tinyRecords().episodes[1]!.episode;
    expect(await train(writeConfig({ episode_ids: [id] }), "chosen")).toMatchObject({ code: 0 });
    const batch = lines("chosen", "batch.jsonl") as unknown as { episode: string }[];
    expect(new Set(batch.slice(1).map(({ episode }) => episode))).toEqual(new Set([id]));
    const absent = await train(writeConfig({ episode_ids: [id, "nobody"] }), "absent");
    expect(absent).toMatchObject({ code: 1 });
    expect(absent.err).toContain('episode_ids: among the episodes is no "nobody"');
  });

  it("reads a library and episodes that lie in several files as one", async () => {
    const of = { limit: 3, batch_size: 3, epochs: [0, 1] };
    expect(await train(writeConfig(of), "one")).toMatchObject({ code: 0 });
    for (const file of ["sources", "episodes"]) {
      const [first, ...rest] = readFileSync(join(folder, `${file}.jsonl`), "utf8").split(/(?<=\n)/);
      writeFileSync(join(folder, `${file}-a.jsonl`), first!);
      writeFileSync(join(folder, `${file}-b.jsonl`), rest.join(""));
    }
    const parts = (file: string) => ["a", "b"].map((part) => `${file}-${part}.jsonl`);
    const several = { library: parts("sources"), episodes: parts("episodes") };
    expect(await train(writeConfig({ ...of, ...several }), "several")).toMatchObject({ code: 0 });
    expect(figures("several")).toEqual(figures("one"));
    expect(lines("several", "metrics.jsonl")).toHaveLength(1);
    expect(weights("several")).toBe(weights("one"));

    for (const [kind, file, change] of [
      ["source", "sources", { ...several, library: ["sources.jsonl", "sources-b.jsonl"] }],
      ["episode", "episodes", { ...several, episodes: ["episodes.jsonl", "episodes-b.jsonl"] }],
    ] as const) {
      const twice = await train(writeConfig(change), "twice");
      expect(twice).toMatchObject({ code: 1 });
      const earlier = join(folder, `${file}.jsonl`);
      expect(twice.err).toMatch(
        new RegExp(
          `${file}-b\\.jsonl, line 1, ${kind}: ${kind} "[^"]+" was already in ${earlier}, line 2\\s*$`,
        ),
      );
    }
  });

  it("lr 0 changes no bit of the student", async () => {
    expect(await train(writeConfig({ settings: { learning_rate: 0 } }), "zero")).toMatchObject({ code: 0 });
    const start = writeConfig(
      { method: "opd", epochs: [1], limit: 1, settings: { learning_rate: 0 } },
      "other.json",
    );
    expect(await train(start, "one")).toMatchObject({ code: 0 });
    expect(weights("zero")).toBe(weights("one"));
    const moved = writeConfig({ method: "opd", epochs: [1], limit: 1 }, "moved.json");
    expect(await train(moved, "moved")).toMatchObject({ code: 0 });
    expect(weights("moved")).not.toBe(weights("one"));
  });

  it("takes a teacher of a next release, and says which tokens it lacks", async () => {
    const teacher = join(folder, "teacher");
    cpSync(modelFixture("qwen3-b"), teacher, { recursive: true });
    writeFileSync(join(teacher, "tokenizer.json"), tokenizerFiles("tokenizer", nextRelease).tokenizerJson);
    const [same, next] = [
      await train(writeConfig({ limit: 2 }), "same"),
      await train(writeConfig({ limit: 2, teacher }), "next"),
    ];
    expect(next.err).toMatch(
      /teacher does not have 1 of the added tokens of .*tokenizer \(1864 "<\/tool_call>"\)/,
    );
    expect([same.code, next.code]).toEqual([0, 0]);
    expect(weights("next")).toBe(weights("same"));
  });

  it("samples again over the recorded episodes when asked; those that break off train nothing", async () => {
    const changes = { method: "opd", epochs: [1], sample: { max_tokens: 6, max_decisions: 2 } };
    // The tiny student writes no action: a recording of malformed responses has the answers to that.
    const malformed = tinyRecords().episodes.map((episode) => ({
      ...episode,
      decisions: episode.decisions.map((decision) => ({ ...decision, action: null, status: "malformed" })),
    }));
    const text = malformed.map((record) => `${JSON.stringify(record)}\n`).join("");
    writeFileSync(join(folder, "malformed.jsonl"), text);
    const config = writeConfig({ ...changes, episodes: "malformed.jsonl" }, "malformed.json");
    const result = await train(config, "out", "--progress", "json");
    expect(result.code).toBe(0);
    const rollouts = events(result.out).filter((event) => event.type === "rollout");
    expect(rollouts).toHaveLength(2);
    for (const { episodes, decisions } of rollouts) expect(decisions).toBeGreaterThanOrEqual(episodes);
    expect(events(result.out).filter(({ type }) => type === "excluded")).toEqual([]);

    const broken = await train(writeConfig(changes), "broken");
    expect(broken.code).toBe(1);
    expect(broken.err).toMatch(
      /2 of 2 episodes ended for technical reasons: no step is taken: e\d \(the recording of e\d holds no answer to a malformed response at decision 0\)/,
    );
    expect(broken.err).toContain(
      "no step was taken: every episode of all 2 batches ended for technical reasons",
    );
    expect(existsSync(join(folder, "broken", "student"))).toBe(false);
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
    digest(join(folder, out, "checkpoints", "step-00000004", "optimizer.safetensors"));

  /** Runs the command in a process; `act` is called with each event as it is printed. */
  async function start(
    config: string,
    out: string,
    act: (event: TrainEvent, kill: (signal: NodeJS.Signals) => void) => void,
  ) {
    let rest = "";
    const run = startCli(
      script,
      ["train", "--config", config, "--out", join(folder, out), "--progress", "json"],
      {
        onOut: (text) => {
          rest += text;
          const parts = rest.split("\n");
          rest = parts.pop()!;
          for (const part of parts) act(JSON.parse(part) as TrainEvent, (signal) => run.child.kill(signal));
        },
      },
    );
    return { ...(await run.ended), ...run.output };
  }

  it.each([
    ["scored", 1],
    ["updated", 2],
    ["checkpoint", 3],
  ] as const)("kill -9 at `%s` of step %i", async (type, step) => {
    const config = writeConfig();
    const expected = await uninterrupted(config);
    const killed = await start(config, "killed", (event, kill) => {
      if (event.type === type && event.step === step) kill("SIGKILL");
    });
    expect(killed.signal).toBe("SIGKILL");
    expect(existsSync(join(folder, "killed", "student"))).toBe(false);
    const again = await train(config, "killed", "--progress", "json");
    expect(again).toMatchObject({ code: 0 });
    expect(weights("killed")).toBe(expected.weights);
    expect(figures("killed")).toEqual(expected.figures);
    expect(optimizer("killed")).toBe(expected.optimizer);
    const steps = lines("killed", "events.jsonl").filter((event) => event.type === "updated");
    expect(steps.map((event) => event.step)).toEqual([1, 2, 3, 4]);
    const left = readdirSync(join(folder, "killed", "checkpoints"));
    expect(left).toEqual(["step-00000003", "step-00000004"]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("%s ends after the step, with a checkpoint", async (signal) => {
    const config = writeConfig();
    const expected = await uninterrupted(config);
    const stopped = await start(config, "stopped", (event, kill) => {
      if (event.type === "step" && event.step === 2) kill(signal);
    });
    expect(stopped).toMatchObject({ code: signal === "SIGINT" ? 130 : 143, signal: null });
    const last = events(stopped.out).at(-1)!;
    expect(last.type).toBe("stopped");
    expect(readdirSync(join(folder, "stopped", "checkpoints")).length).toBeGreaterThan(0);
    expect(await train(config, "stopped")).toMatchObject({ code: 0 });
    expect(weights("stopped")).toBe(expected.weights);
  });

  it("a damaged newest checkpoint: from the one before, and says so", async () => {
    const config = writeConfig();
    const expected = await uninterrupted(config);
    expect(await train(config, "damaged")).toMatchObject({ code: 0 });
    const checkpoints = join(folder, "damaged", "checkpoints");
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
});

describe("a run that begins from another run's checkpoint", () => {
  const newest = (out: string) => {
    const checkpoints = join(folder, out, "checkpoints");
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
    // Its own checkpoints are of no child of another parent.
    const other = writeConfig({ ...small, epochs: [0, 1], parent: newest("whole") });
    expect((await train(other, "child")).err).toMatch(
      /this checkpoint is of another run: it differs in parent;/,
    );
  });

  it("plans with the parent's model, and refuses what is no parent of this student", async () => {
    const vanilla = { epochs: [1, 0], limit: 1, end_of_turn: false };
    expect(await train(writeConfig(vanilla), "vanilla")).toMatchObject({ code: 0 });
    const refused = async (changes: object, message: RegExp) => {
      const result = await train(writeConfig({ epochs: [0, 1], limit: 1, ...changes }), "out");
      expect(result).toMatchObject({ code: 1, err: expect.stringMatching(message) });
      expect(existsSync(join(folder, "out"))).toBe(false);
    };
    await refused({ parent: "nowhere" }, /nowhere: no such folder/);
    await refused({ parent: "vanilla/student" }, /vanilla\/student, parent: expected a run's folder/);
    await refused(
      { parent: "vanilla", student: modelFixture("qwen3-b") },
      /step-0+1, parent: its run began from another student than .*qwen3-b/,
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
    writeFileSync(join(folder, "vanilla", "config.json"), JSON.stringify({ sample: {} }));
    expect((await planned()).err).not.toContain("end-of-turn");
  });
});

describe("refusals in one line", () => {
  async function refused(config: string, message: RegExp, out = "out"): Promise<void> {
    const result = await train(config, out);
    expect(result.code).toBe(1);
    const told = result.err.trimEnd().split("\n");
    expect(told.at(-1)).toMatch(message);
    expect(told.at(-1)).toMatch(/^gcopd: /);
  }

  it.each([
    [{ batch_size: 0 }, /config\.json, batch_size: /],
    [{ batchsize: 3 }, /config\.json.*batchsize/],
    [{ library: undefined }, /config\.json, library: missing/],
    [{ epochs: [1, 1, 1] }, /config\.json, epochs: 3 entries for 2 stages/],
    [{ episodes: "none.jsonl" }, /none\.jsonl: no such file/],
    [{ tokenizer: undefined }, /config\.json, tokenizer: the student's folder has no tokenizer\.json/],
    [{ student: "nowhere", tokenizer: modelFixture("tokenizer") }, /nowhere: no such folder/],
    [{ evidence_tokens: 20 }, /evidence of decision 0 of episode e\d does not fit: .* limit 20/],
  ])("config %#", async (changes, message) => {
    await refused(writeConfig(changes), message);
  });

  it("a config that is not JSON", async () => {
    const path = join(folder, "config.json");
    writeFileSync(path, "{");
    await refused(path, /config\.json: not JSON/);
  });

  it("a tokenizer with more ids than the model has rows", async () => {
    const tokenizer = join(folder, "big");
    cpSync(modelFixture("tokenizer"), tokenizer, { recursive: true });
    const file = join(tokenizer, "tokenizer.json");
    const json = JSON.parse(readFileSync(file, "utf8")) as { added_tokens: object[] };
    const token = { ...json.added_tokens[0]!, id: 1880, content: "<|one_too_many|>" };
    writeFileSync(file, JSON.stringify({ ...json, added_tokens: [...json.added_tokens, token] }));
    await refused(writeConfig({ tokenizer }), /does not fit the model: it has ids up to 1880/);
  });

  it("a teacher with another tokenizer", async () => {
    const teacher = join(folder, "teacher");
    cpSync(modelFixture("qwen3-b"), teacher, { recursive: true });
    cpSync(modelFixture("tokenizer-qwen3_5"), teacher, { recursive: true });
    await refused(writeConfig({ teacher }), /teacher: not the token ids of .*tokenizer: id \d+ is/);
  });

  it("a teacher without a tokenizer, unless the config names that of both", async () => {
    const student = join(folder, "student");
    cpSync(modelFixture("qwen3-a"), student, { recursive: true });
    cpSync(modelFixture("tokenizer"), student, { recursive: true });
    await refused(
      writeConfig({ student, tokenizer: undefined }),
      /config\.json, tokenizer: the teacher's folder has no tokenizer\.json: .*qwen3-b/,
    );
  });

  it("checkpoints of another config, by what differs", async () => {
    expect(await train(writeConfig({ limit: 2 }), "out")).toMatchObject({ code: 0 });
    await refused(
      writeConfig({ limit: 2, seed: 4 }),
      /step-0+\d: this checkpoint is of another run: it differs in settings;/,
    );
    await refused(writeConfig(), /differs in batches, data;/);
    await refused(
      writeConfig({ limit: 2, teacher: modelFixture("qwen3-b-bf16-sharded") }),
      /differs in teacher;/,
    );
  });

  it("an output folder that another run works in", async () => {
    const config = writeConfig();
    let refusal: Promise<void> | null = null;
    const run = startCli(
      script,
      ["train", "--config", config, "--out", join(folder, "out"), "--progress", "json"],
      {
        onOut: () => {
          refusal ??= refused(config, /out: another run works in this folder/);
        },
      },
    );
    await run.ended;
    expect(refusal).not.toBeNull();
    await refusal;
  });

  it("an output that is a file", async () => {
    mkdirSync(join(folder, "x"));
    writeFileSync(join(folder, "x", "out"), "");
    await refused(writeConfig(), /x\/out: is there already, as a file; expected a folder/, "x/out");
  });
});
