/** train, as the command line runs it: whole, and refused. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { tinyRecords } from "../../../test/support/tiny-records.ts";
import { nextRelease, tokenizerFiles } from "../../../test/support/tokenizers.ts";
import {
  eachInItsFolder,
  events,
  figures,
  inFolder,
  lines,
  train,
  weights,
  weightsOf,
  writeConfig,
} from "../../../test/support/train-runs.ts";
import { InputError } from "../../core/errors.ts";
import type { TrainEvent } from "../../core/loop/index.ts";
import type { Episode } from "../../core/record/schema.ts";
import { lockFolder } from "../../node/lock.ts";
import { readTrainConfig } from "./read-config.ts";
import { runTraining } from "./run.ts";

eachInItsFolder();

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
    expect(readdirSync(inFolder("out")).sort()).toEqual([
      "batch.jsonl",
      "checkpoints",
      "config.json",
      "events.jsonl",
      "lock.sqlite",
      "metrics.jsonl",
      "student",
      "tokenizer",
    ]);
    expect(readdirSync(inFolder("out", "tokenizer"))).toContain("tokenizer.json");
    expect(readdirSync(inFolder("out", "checkpoints"))).toEqual(["step-00000003", "step-00000004"]);
    expect(readdirSync(inFolder("out", "student")).sort()).toEqual([
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
    writeFileSync(inFolder("in.jsonl"), '{"id":"a","prompt_ids":[1,2],"response_ids":[3]}\n');
    const scoring = ["--model", inFolder("out", "student"), "--in", inFolder("in.jsonl"), "--device", "cpu"];
    expect((await runCli("score", ...scoring)).code).toBe(0);
  });

  it("tells its end once the student is there and the folder is free", async () => {
    const configFile = writeConfig({ limit: 2 });
    const out = inFolder("out");
    const told: TrainEvent["type"][] = [];
    await runTraining({
      config: await readTrainConfig(configFile),
      ...{ configFile, out, onNote: () => {} },
      onEvent({ type }) {
        told.push(type);
        if (type !== "done") return;
        expect(existsSync(join(out, "student", "model.safetensors"))).toBe(true);
        lockFolder(join(out, "lock.sqlite"), new InputError("the folder is not free"))();
      },
    });
    expect(told.at(-1)).toBe("done");
  });

  it("follows watched decisions, with the same student at the end", async () => {
    const { episodes } = tinyRecords();
    const [trained, other] = [episodes[0]!, episodes[1]!];
    const watch = {
      every: 2,
      decisions: [
        { episode: trained.episode, decision: 0 },
        { episode: other.episode, decision: 0 },
      ],
    };
    const some = { episode_ids: [trained.episode], epochs: [2, 1] };
    const result = await train(writeConfig({ ...some, watch }), "watched", "--progress", "json");
    expect(result).toMatchObject({ code: 0, err: "" });
    const looks = events(result.out).filter((event) => event.type === "held-out");
    expect(looks.map(({ step }) => step)).toEqual([0, 2, 3]);
    expect(looks[0]!.decisions).toEqual([
      expect.objectContaining({ episode: trained.episode, decision: 0, trained: true }),
      expect.objectContaining({ episode: other.episode, decision: 0, trained: false }),
    ]);
    expect(looks[2]!.decisions[0]!.logprob).not.toBe(looks[0]!.decisions[0]!.logprob);
    expect((await train(writeConfig(some), "plain")).code).toBe(0);
    expect(weights("watched")).toBe(weights("plain"));

    for (const [changed, message] of [
      [{ decisions: [{ episode: "nobody", decision: 0 }] }, /watch\.decisions\[0\].*"nobody"/],
      [{ decisions: [{ episode: other.episode, decision: 99 }] }, /watch\.decisions\[0\].*number 99/],
      [{ decisions: [watch.decisions[0], watch.decisions[0]] }, /watch\.decisions\[1\].*named twice/],
    ] as const) {
      const refused = await train(writeConfig({ ...some, watch: changed }), "refused");
      expect(refused.code).toBe(1);
      expect(refused.err).toMatch(message);
    }
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
    expect(existsSync(inFolder("refused"))).toBe(false);
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
    const before = readdirSync(inFolder());
    const student = weightsOf(modelFixture("tiny-a"));
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
    expect(readdirSync(inFolder())).toEqual(before);
    expect(weightsOf(modelFixture("tiny-a"))).toBe(student);
    const played = await runCli(
      ...["train", "--config", writeConfig({ sample: { max_tokens: 4 } }), "--plan", "--probe"],
    );
    expect(JSON.parse(played.out).time).toBeNull();
    expect(await runCli("train", "--config", config, "--out", inFolder("x"), "--probe")).toMatchObject({
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
      const [first, ...rest] = readFileSync(inFolder(`${file}.jsonl`), "utf8").split(/(?<=\n)/);
      writeFileSync(inFolder(`${file}-a.jsonl`), first!);
      writeFileSync(inFolder(`${file}-b.jsonl`), rest.join(""));
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
      const earlier = inFolder(`${file}.jsonl`);
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
    const teacher = inFolder("teacher");
    cpSync(modelFixture("tiny-b"), teacher, { recursive: true });
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
    writeFileSync(inFolder("malformed.jsonl"), text);
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
    expect(existsSync(inFolder("broken", "student"))).toBe(false);
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
    [{ method: "gcopd" }, /config\.json, method: expected opd, .* with a method, received "gcopd"$/],
    [{ batchsize: 3 }, /config\.json.*batchsize/],
    [{ library: undefined }, /config\.json, library: missing/],
    [{ epochs: [1, 1, 1] }, /config\.json, epochs: 3 entries for 2 stages/],
    [{ episodes: "none.jsonl" }, /none\.jsonl: no such file/],
    [{ tokenizer: undefined }, /config\.json, tokenizer: the student's folder has no tokenizer\.json/],
    [
      { student: "nowhere", tokenizer: modelFixture("tokenizer") },
      /config\.json, student: \S+nowhere: no such folder/,
    ],
    [{ teacher: modelFixture("tokenizer") }, /config\.json, teacher: \S+config\.json: this file is missing/],
    [{ evidence_tokens: 20 }, /evidence of decision 0 of episode e\d does not fit: .* limit 20/],
  ])("config %#", async (changes, message) => {
    await refused(writeConfig(changes), message);
  });

  it("a config that is not JSON", async () => {
    const path = inFolder("config.json");
    writeFileSync(path, "{");
    await refused(path, /config\.json: not JSON/);
  });

  it("a tokenizer with more ids than the model has rows", async () => {
    const tokenizer = inFolder("big");
    cpSync(modelFixture("tokenizer"), tokenizer, { recursive: true });
    const file = join(tokenizer, "tokenizer.json");
    const json = JSON.parse(readFileSync(file, "utf8")) as { added_tokens: object[] };
    const token = { ...json.added_tokens[0]!, id: 1880, content: "<|one_too_many|>" };
    writeFileSync(file, JSON.stringify({ ...json, added_tokens: [...json.added_tokens, token] }));
    await refused(writeConfig({ tokenizer }), /does not fit the model: it has ids up to 1880/);
  });

  it("a teacher with another tokenizer", async () => {
    const teacher = inFolder("teacher");
    cpSync(modelFixture("tiny-b"), teacher, { recursive: true });
    cpSync(modelFixture("tokenizer-qwen3_5"), teacher, { recursive: true });
    await refused(writeConfig({ teacher }), /teacher: not the token ids of .*tokenizer: id \d+ is/);
  });

  it("a teacher without a tokenizer, unless the config names that of both", async () => {
    const student = inFolder("student");
    cpSync(modelFixture("tiny-a"), student, { recursive: true });
    cpSync(modelFixture("tokenizer"), student, { recursive: true });
    await refused(
      writeConfig({ student, tokenizer: undefined }),
      /config\.json, tokenizer: the teacher's folder has no tokenizer\.json: .*tiny-b/,
    );
  });

  it("checkpoints of another config, by what differs", async () => {
    expect(await train(writeConfig({ limit: 2 }), "out")).toMatchObject({ code: 0 });
    await refused(
      writeConfig({ limit: 2, seed: 4 }),
      /step-0+\d: this checkpoint is of another run: it differs in settings \(seed was 3, is 4\);/,
    );
    await refused(writeConfig(), /differs in batches, data;/);
    await refused(writeConfig({ limit: 2, teacher: modelFixture("qwen3-b") }), /differs in teacher;/);
  });

  it("a decision of a later step that cannot be read, by its file, before the first step", async () => {
    const config = writeConfig({ batch_size: 1 });
    const text = readFileSync(inFolder("episodes.jsonl"), "utf8");
    for (const [changes, message] of [
      [{ prompt: undefined }, /\.prompt: missing; expected `prompt` or `prompt_ids`/],
      [{ rollout_logprobs: [-1] }, /\.rollout_logprobs: 1 log-probabilities; expected \d+/],
    ] as const) {
      const records = text.trimEnd().split("\n");
      const last = JSON.parse(records.pop()!) as Episode;
      Object.assign(last.decisions[1]!, changes);
      writeFileSync(inFolder("episodes.jsonl"), `${records.join("\n")}\n${JSON.stringify(last)}\n`);
      const place = `episodes\\.jsonl, line 4, episode "e4", decisions\\[1\\]${message.source}`;
      await refused(config, new RegExp(place));
      expect(existsSync(inFolder("out"))).toBe(false);
      // One that broke off is left out of the run, whatever it holds.
      Object.assign(last.outcome, { ended: "technical", complete: false });
      writeFileSync(inFolder("episodes.jsonl"), `${records.join("\n")}\n${JSON.stringify(last)}\n`);
      const left = await train(config, "out");
      expect(left.code, left.err).toBe(0);
      rmSync(inFolder("out"), { recursive: true });
    }
  });

  it("an output folder that holds something else; an empty one, and a run's own, are taken", async () => {
    const config = writeConfig({ limit: 2 });
    mkdirSync(inFolder("evaluated"));
    for (const name of ["run.json", "results.json", "episodes.jsonl", "seconds.jsonl", "lock.sqlite"])
      writeFileSync(inFolder("evaluated", name), "");
    await refused(
      config,
      /evaluated, --out: holds episodes\.jsonl, results\.json, run\.json and 1 more, but no training run: expected/,
      "evaluated",
    );
    expect(existsSync(inFolder("evaluated", "config.json"))).toBe(false);
    mkdirSync(inFolder("model"));
    writeFileSync(inFolder("model", "config.json"), "{}");
    await refused(config, /model, --out: holds config\.json, but no training run/, "model");
    expect(readFileSync(inFolder("model", "config.json"), "utf8")).toBe("{}");
    mkdirSync(inFolder("empty"));
    expect(await train(config, "empty")).toMatchObject({ code: 0 });
    writeFileSync(inFolder("empty", "notes.txt"), "");
    expect(await train(config, "empty")).toMatchObject({ code: 0 });
    // As after a kill while the models are opened.
    mkdirSync(inFolder("killed"));
    for (const name of ["config.json", "lock.sqlite", "teacher.json"])
      writeFileSync(inFolder("killed", name), "");
    expect(await train(config, "killed")).toMatchObject({ code: 0 });
  });

  it("an output that is a file", async () => {
    mkdirSync(inFolder("x"));
    writeFileSync(inFolder("x", "out"), "");
    await refused(writeConfig(), /x\/out: already exists as a file; expected a folder/, "x/out");
  });
});
