/** train and score with a teacher that another program serves: a stand-in with our own reference model behind it. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { runCli } from "../../../test/support/cli.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import {
  eachInItsFolder,
  events,
  figures,
  inFolder,
  lines,
  train,
  weights,
  writeConfig,
} from "../../../test/support/train-runs.ts";
import { canSample } from "../../core/loop/bridge.ts";
import { ModelScorer } from "../../engine/native/index.ts";
import { createNodeBackend } from "../../engine/native/node.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { type Stub, type StubOptions, startStub } from "../../engine/remote/testing/stub-server.ts";
import { openTokenizer } from "../../text/index.ts";
import { openCompute } from "../engine/compute.ts";
import { readInputs } from "./inputs.ts";
import { readTrainConfig } from "./read-config.ts";
import { openTeacher } from "./teacher.ts";

eachInItsFolder();

const closing: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) await close();
});

/** A server that answers with the log-probabilities of the fixture `model`, `off` nats below at each token. */
async function serve(
  kind: "vllm" | "sglang",
  {
    model = "tiny-b",
    off = 0,
    tellsIds = true,
    ...more
  }: Partial<StubOptions> & { model?: string; off?: number; tellsIds?: boolean } = {},
): Promise<Stub> {
  const backend = await createNodeBackend("cpu", { compute: "f32", onNote: () => undefined });
  const scorer = await ModelScorer.open(backend, openFolder(modelFixture(model)));
  const tokenizer = await openTokenizer(openFolder(modelFixture("tokenizer")));
  const stub = await startStub({
    kind,
    score: async ([first, ...responseIds]) => {
      const [result] = await scorer.score([{ id: "", promptIds: [first!], responseIds }]);
      return [0, ...Array.from(result!.logprobs, (each) => each - off)];
    },
    ...(tellsIds ? { tokenize: (text) => tokenizer.encode(text) } : {}),
    ...more,
  });
  closing.push(
    stub.close,
    () => scorer.dispose(),
    () => backend.dispose(),
  );
  return stub;
}

const TWO_STEPS = { limit: 2, epochs: [1, 1], batch_size: 2 };
const own = { calibrate_with: modelFixture("tiny-b") };

describe("a run with its teacher on a server", () => {
  it.each(["vllm", "sglang"] as const)(
    "%s: the numbers of the run with the same teacher here",
    async (kind) => {
      expect(await train(writeConfig(TWO_STEPS), "here")).toMatchObject({ code: 0 });
      const { url, asked } = await serve(kind);
      const config = writeConfig({ ...TWO_STEPS, ...own, teacher: url });
      const { code, out, err } = await train(config, "there", "--progress", "json");
      expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining("warning") });
      expect(lines("there", "metrics.jsonl")).toHaveLength(2);
      expect(figures("there")).toEqual(figures("here"));
      expect(weights("there")).toBe(weights("here"));
      const by = kind === "vllm" ? "vLLM 0.32.0" : "SGLang 0.5.9";
      const [start] = events(out).filter(({ type }) => type === "start");
      expect(start).toMatchObject({
        teacher: {
          model: "served",
          device: "server",
          adapter: `${by} at ${url}`,
          served: {
            by,
            sameTokenizer: true,
            calibration: { against: expect.stringContaining("tiny-b (cpu, f32)"), decisions: 3 },
          },
        },
      });
      expect(Object(start).teacher.served.calibration.largest).toBeLessThan(1e-5);
      expect(JSON.parse(readFileSync(inFolder("there", "teacher.json"), "utf8"))).toMatchObject({
        server: by,
        model: "served",
        same_tokenizer: true,
        calibration: { decisions: 3 },
        scored: [{ logprobs: expect.any(Array) }, {}, {}],
      });
      expect(asked.length).toBeGreaterThan(6);
    },
  );

  it("is refused where its scores of the same decisions do not repeat", async () => {
    let calls = 0;
    const { url } = await serve("vllm", {
      score: async (ids) => {
        calls += 1;
        // The three decisions are scored once, and then otherwise.
        return ids.map((_, n) => (n === 0 ? 0 : calls > 3 ? -2 : -1));
      },
    });
    const { code, err } = await train(writeConfig({ ...TWO_STEPS, teacher: url }), "drifting");
    expect(code).toBe(1);
    expect(err).toContain("largest difference to its own scores of a moment ago 1.0 nats");
  });

  it("says that it is not calibrated where no weights are here, and compares no tokenizer that is not told", async () => {
    const { url } = await serve("vllm", { tokenize: () => [] });
    // The first text that is compared has tokens here, and none there.
    expect((await train(writeConfig({ ...TWO_STEPS, teacher: url }), "other")).err).toMatch(
      /tokenize: another tokenizer than ours: token 0 of "The year .*" is nothing there and \d+ here/,
    );
    const silent = await serve("vllm", { tellsIds: false });
    const { code, err } = await train(writeConfig({ ...TWO_STEPS, teacher: silent.url }), "silent");
    expect(code).toBe(0);
    expect(err).toContain(
      `teacher served, served by vLLM 0.32.0 at ${silent.url} (not calibrated; its tokenizer is not compared); student parameters`,
    );
  });

  it("warns of a server that is off by 0.06 nats, and refuses one that is off by 0.6", async () => {
    const near = await serve("vllm", { off: 0.06 });
    const warned = await train(writeConfig({ ...TWO_STEPS, ...own, teacher: near.url }), "near");
    expect(warned.code).toBe(0);
    expect(warned.err).toMatch(
      new RegExp(
        `^gcopd: warning: ${near.url}: largest difference to .*tiny-b .* 0\\.060 nats, mean 0\\.060`,
        "m",
      ),
    );
    const far = await serve("sglang", { off: 0.6 });
    const refused = await train(writeConfig({ ...TWO_STEPS, ...own, teacher: far.url }), "far");
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toMatch(
      new RegExp(`${far.url} does not compute this model as it should: largest difference to .* 0\\.60 nats`),
    );
  });

  it("goes on after a stop, with a warning where the program has another version", async () => {
    const config = (url: string) => writeConfig({ ...TWO_STEPS, ...own, teacher: url });
    const first = await serve("vllm");
    expect(await train(config(first.url), "whole")).toMatchObject({ code: 0 });
    // As a run that ended after its first step left it.
    expect(await train(config(first.url), "resumed")).toMatchObject({ code: 0 });
    rmSync(inFolder("resumed", "checkpoints", "step-00000002"), { recursive: true });
    rmSync(inFolder("resumed", "student"), { recursive: true });
    const next = await serve("vllm", { version: "0.33.0" });
    const again = await train(config(next.url), "resumed");
    expect(again.code).toBe(0);
    expect(again.err).toContain(
      "gcopd: warning: this run began with vLLM 0.32.0, and goes on with vLLM 0.33.0",
    );
    expect(again.err).toContain("continued after step 1");
    expect(weights("resumed")).toBe(weights("whole"));
    expect(figures("resumed")).toEqual(figures("whole"));
  });

  it("does not go on with a server whose model has another name, or answers otherwise", async () => {
    const config = (url: string, more: object = {}) => writeConfig({ ...TWO_STEPS, teacher: url, ...more });
    const first = await serve("vllm");
    expect(await train(config(first.url), "out")).toMatchObject({ code: 0 });
    const renamed = await serve("vllm", { models: ["other"] });
    expect((await train(config(renamed.url), "out")).err).toMatch(
      /this checkpoint is of another run: it differs in teacher; use another output folder/,
    );
    const swapped = await serve("vllm", { model: "tiny-a" });
    expect((await train(config(swapped.url), "out")).err).toMatch(
      new RegExp(
        `${swapped.url} does not compute this model as it should: largest difference to the answers with which this run began \\(vLLM 0\\.32\\.0\\)`,
      ),
    );
    expect((await train(writeConfig(TWO_STEPS), "out")).err).toContain("differs in teacher;");
  });

  it("is compared by the ends of prompts where nothing was drawn yet", async () => {
    const { url, asked } = await serve("vllm", { model: "tiny-a" });
    const calibrated = { teacher: url, calibrate_with: modelFixture("tiny-a") };
    const live = { episodes: undefined, library: undefined, method: "opd", epochs: [1], batch_size: 2 };
    for (const [name, how] of [
      ["again", { limit: 2, sample: { max_tokens: 2 } }],
      [
        "live",
        {
          environment: {
            ...{ name: "alfworld", made: { count: 2, seed: 0, size: "small" } },
            ...{ max_decisions: 1, max_tokens: 2 },
          },
        },
      ],
    ] as const) {
      asked.splice(0);
      const more = name === "live" ? live : { method: "opd", epochs: [1] };
      const { err } = await train(writeConfig({ ...more, ...how, ...calibrated }), name);
      expect(err).toMatch(/^opd: 2 tasks, .* served by .* \(largest difference to .*tiny-a \(cpu, f32\)/m);
      const { scored } = JSON.parse(readFileSync(inFolder(name, "teacher.json"), "utf8"));
      for (const { prompt_ids, response_ids } of scored) {
        expect(response_ids.length).toBeGreaterThan(0);
        expect(response_ids.length).toBe(
          Math.min(64, Math.floor((prompt_ids.length + response_ids.length) / 2)),
        );
      }
      expect(asked.length).toBeGreaterThanOrEqual(scored.length);
    }
  });

  it("samples what a bridge asks of it", async () => {
    for (const kind of ["vllm", "sglang"] as const) {
      const drawn: object[] = [];
      const { url } = await serve(kind, {
        respond: (body) => {
          drawn.push(body);
          return { ids: [5, 7], text: "", stop: "stop" };
        },
      });
      const configFile = writeConfig({ ...TWO_STEPS, teacher: url });
      const config = await readTrainConfig(configFile);
      const run = { config, configFile, out: "", onEvent: () => undefined, onNote: () => undefined };
      const inputs = await readInputs(run);
      const compute = await openCompute({ device: "cpu", compute: "f32", onNote: () => undefined });
      closing.push(inputs.close, compute.close);
      const teacher = (await openTeacher(run, inputs, compute, undefined))!;
      if (!canSample(teacher)) throw new Error("it only scores");
      const request = { id: "e", promptIds: [1, 2], maxTokens: 8, temperature: 1, seed: 4, stopIds: [7] };
      const [response] = await teacher.sample([{ ...request, drawable: [[0, 100]] }]);
      expect(response).toMatchObject({ id: "e", responseIds: [5, 7], stop: "stop" });
      expect(drawn).toEqual([
        kind === "vllm"
          ? expect.objectContaining({ prompt: [1, 2], max_tokens: 8, temperature: 1, seed: 4 })
          : expect.objectContaining({ input_ids: [1, 2] }),
      ]);
      const [score] = await teacher.score([{ id: "e", promptIds: [1, 2], responseIds: [5, 7] }]);
      expect(score!.logprobs).toHaveLength(2);
    }
  });

  it("plans without asking the server, and leaves its memory out", async () => {
    const config = writeConfig({ ...TWO_STEPS, teacher: "http://127.0.0.1:9" });
    const { code, out, err } = await runCli("train", "--config", config, "--plan");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const { items } = z.object({ items: z.array(z.object({ name: z.string() })) }).parse(JSON.parse(out));
    const names = items.map(({ name }) => name.split(":")[0]);
    expect(new Set(names)).toEqual(new Set(["student"]));
  });

  it("needs a key where the server wants one, and shows none", async () => {
    const { url } = await serve("vllm", { key: "right" });
    const config = writeConfig({ ...TWO_STEPS, teacher: url });
    vi.stubEnv("GCOPD_TEACHER_KEY", "secret");
    const refused = await train(config, "locked");
    expect(refused.err).toMatch(/refuses access \(status 401\): its key belongs in GCOPD_TEACHER_KEY/);
    vi.stubEnv("GCOPD_TEACHER_KEY", "right");
    expect(await train(config, "open")).toMatchObject({ code: 0 });
    for (const file of ["config.json", "events.jsonl", "teacher.json"])
      expect(readFileSync(inFolder("open", file), "utf8")).not.toContain('"right"');
  });

  it("has keys that belong to it alone", async () => {
    for (const key of ["calibrate_with", "teacher_model"])
      expect((await train(writeConfig({ [key]: "x" }), "x")).err).toContain(
        `config.json, ${key}: only applies with the address of a server as \`teacher\``,
      );
  });
});

describe("gcopd score --url", () => {
  const requests = [
    { id: "a", prompt_ids: [1, 2, 3, 4, 5], response_ids: [6, 7] },
    { id: "b", prompt_ids: [9], response_ids: [10] },
  ];
  const score = (...args: string[]) => {
    writeFileSync(inFolder("in.jsonl"), requests.map((each) => `${JSON.stringify(each)}\n`).join(""));
    return runCli("score", "--in", inFolder("in.jsonl"), "--device", "cpu", ...args);
  };
  const tokenizer = ["--tokenizer", modelFixture("tokenizer")];
  const calibrated = [...tokenizer, "--calibrate-with", modelFixture("tiny-b")];

  it("writes what --model writes, and says how far the server lies from it", async () => {
    const here = await score("--model", modelFixture("tiny-b"));
    expect(here.code).toBe(0);
    for (const kind of ["vllm", "sglang"] as const) {
      const { url } = await serve(kind);
      const there = await score("--url", url, ...calibrated);
      expect(there).toMatchObject({ code: 0, out: here.out });
      expect(there.err).toMatch(/served by .* \(largest difference to .*, over 3 tokens of 2 decisions\)/);
    }
  });

  it("refuses a server that is off, and what it cannot do", async () => {
    const { url, asked } = await serve("vllm", { off: 1 });
    expect(await score("--url", url, ...calibrated)).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("does not compute this model as it should"),
    });
    expect(await score("--url", url, ...tokenizer)).toMatchObject({
      code: 0,
      err: expect.stringContaining("(not calibrated)"),
    });
    const before = asked.length;
    for (const [args, said] of [
      [["--url", url], "--tokenizer is missing"],
      [["--url", url, "--entropy", ...tokenizer], "--top-k, --entropy and --plan go with --model"],
      [["--url", url, "--model", "x"], "expected either --model with a folder or --url"],
      [["--model", "x", ...tokenizer], "--tokenizer goes with --url"],
    ] as const)
      expect(await score(...args)).toMatchObject({ code: 2, err: expect.stringContaining(said) });
    requests.push({ id: "c", prompt_ids: [1], response_ids: [5000] });
    expect(await score("--url", url, ...tokenizer)).toMatchObject({
      code: 1,
      err: expect.stringContaining("line 3, response_ids[0]: id 5000 is not in the model's vocabulary"),
    });
    expect(asked.length).toBe(before);
  });
});
