/** score and step, on files, as the command line runs them. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { buildCli, runCli, startCli } from "../../../test/support/cli.ts";
import { modelFixture, readGolden } from "../../../test/support/golden.ts";
import { AppendFile } from "../../node/append-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, records: object[]): string {
  const path = join(folder, name);
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return path;
}

/** gradient.safetensors as a batch file. */
function goldenBatch(model: string): string {
  const golden = readGolden(`${model}/gradient.safetensors`);
  const decisions = [...golden.keys()].filter((key) => key.endsWith("/prompt_ids")).sort();
  return write(
    "batch.jsonl",
    decisions.map((key) => {
      const name = key.slice(0, -"/prompt_ids".length);
      const get = (what: string) => golden.get(`${name}/${what}`)!;
      return {
        episode: name.slice(0, 2),
        prompt_ids: get("prompt_ids"),
        response_ids: get("response_ids"),
        teacher_logprobs: get("teacher_logp"),
        rollout_logprobs: get("old_logp"),
      };
    }),
  );
}

interface StepOutput {
  step: number;
  loss: number;
  grad_norm: number;
  items: { episode: string; logprobs: number[]; ratio: number[]; advantage: number[]; clipped: number[] }[];
}

const QWEN_A = modelFixture("qwen3-a");
const QWEN_B = modelFixture("qwen3-b");
const CPU = ["--device", "cpu"];

/** Arguments of a command on the smaller model, from a file to `out`. */
const onQwenA = (input: string) => [
  ...["--model", QWEN_A, "--in", input, "--out", join(folder, "out")],
  ...CPU,
];

it.each(["score", "step"])("%s that waits for standard input ends with Ctrl-C", async (command) => {
  const stdin = new PassThrough();
  const reads = vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as never);
  onTestFinished(() => void vi.restoreAllMocks());
  const ended = runCli(command, ...onQwenA("-"));
  await vi.waitFor(() => expect(reads).toHaveBeenCalled(), 60_000);
  process.emit("SIGINT", "SIGINT");
  const { code, err } = await ended;
  expect(code, err).toBe(130);
  expect(err).toContain("gcopd: interrupted: ");
});

describe("score", () => {
  // The composite's golden values are those of its bf16 weights, in a file of their own.
  it.each([
    ["qwen3-b", "qwen3-b", "forward"],
    ["qwen3_5", "qwen3_5", "forward"],
    ["qwen3_5-bf16-wrapper-sharded", "qwen3_5", "forward-bf16"],
  ])("%s: gives the golden log-probabilities in the order of the lines", async (model, name, file) => {
    const golden = readGolden(`${name}/forward.safetensors`);
    const results = readGolden(`${name}/${file}.safetensors`);
    const input = write(
      "in.jsonl",
      [0, 3, 1].map((i) => ({
        id: `p${i}`,
        prompt_ids: golden.get(`p${i}/prompt_ids`),
        response_ids: golden.get(`p${i}/response_ids`),
      })),
    );
    const out = join(folder, "out.jsonl");
    const result = await runCli("score", "--model", modelFixture(model), "--in", input, "--out", out, ...CPU);
    expect(result).toMatchObject({ code: 0, out: "" });
    const lines = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; logprobs: number[] });
    expect(lines.map(({ id }) => id)).toEqual(["p0", "p3", "p1"]);
    for (const { id, logprobs } of lines) {
      const expected = results.get(`${id}/logprobs`)!;
      expect(logprobs).toHaveLength(expected.length);
      logprobs.forEach((value, i) => {
        expect(Math.abs(value - expected[i]!)).toBeLessThan(2e-4);
      });
    }
  });

  it("prints what a job needs, refuses what does not fit with the numbers, and keeps weights as asked", async () => {
    const input = write("in.jsonl", [{ id: "a", prompt_ids: [1, 2, 5], response_ids: [3, 4] }]);
    const args = ["score", "--model", QWEN_A, "--in", input, ...CPU];
    const planned = async (...more: string[]) => {
      const { code, out } = await runCli(...args, "--plan", ...more);
      expect(code).toBe(0);
      return JSON.parse(out) as { total: number; items: { name: string; bytes: number }[] };
    };
    const plan = await planned();
    expect(plan.items.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(plan.total);
    expect((await planned("--dtype", "int8")).items[0]).toMatchObject({ name: "weights (int8)" });
    expect((await planned("--dtype", "int8")).items[0]!.bytes).toBeLessThan(plan.items[0]!.bytes / 3);
    const refused = await runCli(...args, "--memory-limit", "0.0001");
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/the job needs more than the 0\.1 MiB that it may take: memory: about \d/);
    const int8 = await runCli(...args, "--dtype", "int8");
    expect(int8.code).toBe(0);
    expect(int8.err).toContain("int8 weights, f32 products");
  });

  it("tells entropies and the most probable tokens when asked, and how many tokens were computed", async () => {
    const golden = readGolden("qwen3-a/forward.safetensors");
    const ids = { prompt_ids: golden.get("p1/prompt_ids"), response_ids: golden.get("p1/response_ids") };
    const input = write("in.jsonl", [{ id: "p1", ...ids }]);
    const out = join(folder, "out.jsonl");
    const args = ["score", "--model", QWEN_A, "--in", input, "--out", out, ...CPU];
    const { code, err } = await runCli(...args, "--top-k", "3", "--entropy");
    expect(code).toBe(0);
    const tokens = ids.prompt_ids!.length + ids.response_ids!.length;
    expect(err).toContain(`1 line, ${tokens} tokens (${tokens - 1} computed)`);
    const line = JSON.parse(readFileSync(out, "utf8")) as {
      logprobs: number[];
      entropy: number[];
      top_ids: number[][];
      top_logprobs: number[][];
    };
    golden.get("p1/entropy")!.forEach((expected, j) => {
      expect(Math.abs(line.entropy[j]! - expected)).toBeLessThan(2e-4);
      expect(line.top_ids[j]).toHaveLength(3);
      expect(line.top_logprobs[j]).toEqual([...line.top_logprobs[j]!].sort((a, b) => b - a));
      const place = line.top_ids[j]!.indexOf(ids.response_ids![j]!);
      if (place >= 0) expect(line.top_logprobs[j]![place]).toBeCloseTo(line.logprobs[j]!, 5);
    });
    expect(await runCli(...args, "--top-k", "65")).toMatchObject({ code: 2 });
  });

  it("keeps what it has scored when it is interrupted, and goes on to the same output", async () => {
    const prompt = Array.from({ length: 500 }, (_, n) => 5 + n);
    const records = Array.from({ length: 40 }, (_, n) => ({
      ...{ id: `r${n}`, prompt_ids: prompt, response_ids: [3, 5 + n] },
    }));
    const input = write("in.jsonl", records);
    const score = (name: string) =>
      runCli("score", "--model", QWEN_A, "--in", input, "--out", join(folder, name), ...CPU);
    const whole = await score("whole.jsonl");
    expect(whole.code, whole.err).toBe(0);
    expect(whole.err).toMatch(/^ {2}\d+ lines?[,;]/m);

    const part = join(folder, "out.jsonl.part");
    const { append } = AppendFile.prototype;
    const killed = vi.spyOn(process, "kill").mockReturnValue(true);
    vi.spyOn(AppendFile.prototype, "append").mockImplementationOnce(function (this: AppendFile, text) {
      const place = append.call(this, text);
      process.emit("SIGINT", "SIGINT");
      return place;
    });
    const stopped = await score("out.jsonl");
    // The signal counts once: it is not sent again by what removes half-written files.
    expect(killed).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    expect(stopped.code).toBe(130);
    expect(stopped.err).toContain(`gcopd: interrupted: the same command goes on from ${part}\n`);
    const kept = readFileSync(part, "utf8").trimEnd().split("\n").length - 1;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(40);
    // A kill cuts a line short.
    appendFileSync(part, '{"id":"r');
    const again = await score("out.jsonl");
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain(`goes on from ${part}\n`);
    expect(again.err).toContain(`40 lines, ${((40 - kept) * 502).toLocaleString("en")} tokens`);
    expect(readFileSync(join(folder, "out.jsonl"), "utf8")).toBe(
      readFileSync(join(folder, "whole.jsonl"), "utf8"),
    );
    expect(readdirSync(folder).sort()).toEqual(["in.jsonl", "out.jsonl", "whole.jsonl"]);

    for (const mine of ["mine\n", "mine"]) {
      writeFileSync(part, mine);
      expect((await score("out.jsonl")).err).toContain(
        `${part}: is not an unfinished output of this command`,
      );
      expect(readFileSync(part, "utf8")).toBe(mine);
    }
    writeFileSync(part, '{"format":"gcopd.unfinished.v1"}\n{"id":"old"}\n');
    const other = await score("out.jsonl");
    expect(other.err).toContain(`${part}: left by another model, input, option or version; begins again`);
    expect(readdirSync(folder).sort()).toEqual(["in.jsonl", "out.jsonl", "whole.jsonl"]);
  });

  it("prints progress as JSON lines when asked, and then needs a file for its result", async () => {
    const input = write("in.jsonl", [{ id: "a", prompt_ids: [1, 2], response_ids: [3] }]);
    const args = ["score", "--model", QWEN_A, "--in", input, "--progress", "json", ...CPU];
    const { code, out } = await runCli(...args, "--out", join(folder, "out.jsonl"));
    expect(code).toBe(0);
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; lines?: number });
    expect(events.map(({ type }) => type)).toEqual(["start", "progress", "done"]);
    expect(events.at(-1)!.lines).toBe(1);
    expect(await runCli(...args)).toMatchObject({ code: 2 });
  });

  it.each([
    [
      { id: "a", prompt_ids: [1, 1880], response_ids: [3] },
      /in\.jsonl, line 1, prompt_ids\[1\]: id 1880 is not in .* vocabulary of 1880/,
    ],
    [
      { id: "a", prompt_ids: [1], response_ids: Array(5000).fill(3) },
      /in\.jsonl, line 1, prompt_ids: .* 5001 tokens, the model takes 4096/,
    ],
    [{ id: "a", prompt_ids: [], response_ids: [3] }, /in\.jsonl, line 1, prompt_ids: /],
  ])("refuses %#, by file, line and key, and leaves nothing behind", async (record, message) => {
    const input = write("in.jsonl", [record]);
    const result = await runCli("score", ...onQwenA(input));
    expect(result.code).toBe(1);
    expect(result.err.trimEnd().split("\n").at(-1)).toMatch(message);
    expect(readdirSync(folder)).toEqual(["in.jsonl"]);
  });
});

describe("faulty models give one line", () => {
  const change = (file: string, edit: (bytes: Buffer) => Buffer | undefined): string => {
    const model = join(folder, "model");
    cpSync(QWEN_A, model, { recursive: true });
    const path = join(model, file);
    const changed = edit(readFileSync(path));
    if (changed === undefined) rmSync(path);
    else writeFileSync(path, changed);
    return model;
  };
  const config = (keys: object) => (bytes: Buffer) =>
    Buffer.from(JSON.stringify({ ...(JSON.parse(bytes.toString()) as object), ...keys }));
  /** Puts NaN into the first value of the file's data. */
  const nan = (bytes: Buffer) => {
    bytes.writeFloatLE(Number.NaN, 8 + Number(bytes.readBigUInt64LE(0)));
    return bytes;
  };

  it.each([
    ["NaN weights", "model.safetensors", nan, /model\.safetensors, [\w.]+: value 0 is NaN/],
    [
      "an unknown architecture",
      "config.json",
      config({ model_type: "llama" }),
      /config\.json, model_type: "llama"/,
    ],
    [
      "a shape that does not fit",
      "config.json",
      config({ intermediate_size: 161 }),
      /mlp\.\w+\.weight: the shape is/,
    ],
    [
      "a header longer than the file",
      "model.safetensors",
      (b: Buffer) => b.subarray(0, 100),
      /model\.safetensors/,
    ],
    ["no config", "config.json", () => undefined, /config\.json: this file is missing/],
  ])("%s", async (_, file, edit, message) => {
    const model = change(file, edit);
    const input = write("in.jsonl", [{ id: "a", prompt_ids: [1], response_ids: [3] }]);
    const result = await runCli(
      "score",
      "--model",
      model,
      "--in",
      input,
      "--out",
      join(folder, "out"),
      ...CPU,
    );
    expect(result.code).toBe(1);
    const lines = result.err.trimEnd().split("\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(message);
    expect(existsSync(join(folder, "out"))).toBe(false);
  });
});

describe("step", () => {
  it("prints what the step needs, and refuses it with the numbers before anything is loaded", async () => {
    const batch = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        episode: `e${n}`,
        prompt_ids: Array.from({ length: 60 }, (__, i) => (i * 7 + n) % 500),
        response_ids: [3, 4],
        teacher_logprobs: [-0.5, -0.1],
        rollout_logprobs: [-0.7, -0.2],
      }));
    const input = write("batch.jsonl", batch(8));
    const out = join(folder, "stepped");
    const args = ["step", "--model", QWEN_A, "--in", input, "--out", out, ...CPU];
    const planned = async (...more: string[]) => {
      const { code, out } = await runCli(...args, "--plan", ...more);
      expect(code).toBe(0);
      return JSON.parse(out) as {
        total: number;
        pack_tokens: number;
        items: { part: string; bytes: number }[];
        largest_tensor: { name: string; bytes: number };
      };
    };
    const plan = await planned();
    expect(plan.items.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(plan.total);
    expect(new Set(plan.items.map(({ part }) => part))).toEqual(
      new Set(["weights", "training state", "activations"]),
    );
    expect(plan.largest_tensor.name).toBe("model.embed_tokens.weight (f32)");
    const limit = ["--memory-limit", String((plan.total - 1) / 2 ** 30)];
    const shorter = await planned(...limit);
    expect(shorter.pack_tokens).toBeLessThan(plan.pack_tokens);
    expect(shorter.total).toBeLessThan(plan.total);
    const refused = await runCli(...args, "--memory-limit", "0.001");
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /the job needs more than the 1\.0 MiB that it may take: memory: about \d.*optimizer state/,
    );
    expect(existsSync(out)).toBe(false);
    // Shorter passes give the same step, but for the order of sums.
    const whole = await runCli(...args);
    expect(whole.code).toBe(0);
    rmSync(out, { recursive: true });
    const cut = await runCli(...args, ...limit);
    expect(cut.code).toBe(0);
    const loss = (text: string) => (JSON.parse(text) as { loss: number }).loss;
    expect(loss(cut.out)).toBeCloseTo(loss(whole.out), 5);
  });

  it.each([
    ["qwen3-a", QWEN_A],
    ["qwen3-b", QWEN_B],
    ["qwen3_5", modelFixture("qwen3_5")],
  ])("%s: three steps from folder to folder give the golden losses and norms", async (name, start) => {
    const batch = goldenBatch(name);
    const golden = readGolden(`${name}/gradient.safetensors`);
    const { steps } = JSON.parse(readFileSync(modelFixture(`goldens/${name}/adamw.json`), "utf8")) as {
      steps: { config: string; loss: number; grad_norm: number }[];
    };
    let model = start;
    for (const [n, expected] of steps.filter(({ config }) => config === "lr1e-5_wd0").entries()) {
      const out = join(folder, `step-${n + 1}`);
      const result = await runCli(
        "step",
        "--model",
        model,
        "--in",
        batch,
        "--out",
        out,
        "--lr",
        "1e-5",
        ...CPU,
      );
      expect(result).toMatchObject({ code: 0 });
      const printed = JSON.parse(result.out) as StepOutput;
      expect(printed.step).toBe(n + 1);
      expect(Math.abs(printed.loss - expected.loss)).toBeLessThan(1e-3 * Math.abs(expected.loss));
      expect(Math.abs(printed.grad_norm - expected.grad_norm)).toBeLessThan(1e-3 * expected.grad_norm);
      if (n === 0) {
        expect(printed.items.flatMap(({ clipped }) => clipped)).toEqual(
          [...golden.keys()]
            .filter((key) => key.endsWith("/clipped"))
            .sort()
            .flatMap((key) => golden.get(key)!),
        );
      }
      model = out;
    }
    expect(readdirSync(model).sort()).toEqual([
      "config.json",
      "generation_config.json",
      "model.safetensors",
      "optimizer.safetensors",
    ]);
    expect(readdirSync(folder).filter((entry) => entry.startsWith("."))).toEqual([]);
  });

  it("lr 0 writes the same weights", async () => {
    const out = join(folder, "out");
    const args = ["--model", QWEN_A, "--in", goldenBatch("qwen3-a"), "--out", out, "--lr", "0", ...CPU];
    expect(await runCli("step", ...args)).toMatchObject({ code: 0 });
    // The header may order its entries otherwise; the values of each tensor may not differ.
    const again = join(folder, "again");
    const next = ["--model", out, "--in", goldenBatch("qwen3-a"), "--out", again, "--lr", "0", ...CPU];
    expect(await runCli("step", ...next)).toMatchObject({ code: 0 });
    const weights = (path: string) => readFileSync(join(path, "model.safetensors"));
    expect(weights(again).equals(weights(out))).toBe(true);
    expect(tensors(weights(out))).toEqual(tensors(weights(QWEN_A)));
  });

  it("refuses a folder that is in use before it computes anything", async () => {
    const out = join(folder, "out");
    cpSync(QWEN_A, out, { recursive: true });
    const result = await runCli(
      "step",
      "--model",
      QWEN_A,
      "--in",
      goldenBatch("qwen3-a"),
      "--out",
      out,
      ...CPU,
    );
    expect(result).toMatchObject({
      code: 1,
      err: `gcopd: ${out}: this folder already exists and is not empty\n`,
    });
  });

  it.each([
    ["teacher_logprobs", { teacher_logprobs: [-1] }, "line 2, teacher_logprobs: 1 values for 2 response_ids"],
    ["rollout_logprobs", { rollout_logprobs: [-1, -1, -1] }, "line 2, rollout_logprobs: 3 values for 2"],
    ["prompt_ids", { prompt_ids: [2000] }, "line 2, prompt_ids[0]: id 2000 is not in the model's vocabulary"],
    ["episode", { episode: 3 }, "line 2, episode: expected string"],
  ])("a fault of %s is named by file, line and key", async (_, fault, message) => {
    const good = {
      episode: "e",
      prompt_ids: [1],
      response_ids: [2, 3],
      teacher_logprobs: [-1, -1],
      rollout_logprobs: [-1, -1],
    };
    const input = write("batch.jsonl", [good, { ...good, ...fault }]);
    const result = await runCli("step", ...onQwenA(input));
    expect(result.code).toBe(1);
    expect(result.err).toContain(`batch.jsonl, ${message}`);
    expect(readdirSync(folder)).toEqual(["batch.jsonl"]);
  });

  it.each([
    ["--lr", "-1"],
    ["--betas", "0.9"],
    ["--clip", "0"],
    ["--device", "tpu"],
  ])("refuses %s %s as bad usage", async (name, value) => {
    const args = [
      "--model",
      QWEN_A,
      "--in",
      goldenBatch("qwen3-a"),
      "--out",
      join(folder, "out"),
      name,
      value,
    ];
    expect((await runCli("step", ...args)).code).toBe(2);
  });
});

describe("as a process", () => {
  it("exits by itself, and without a driver says how to get one", async () => {
    const script = await buildCli("engine");
    onTestFinished(() => rmSync(join(script, ".."), { recursive: true, force: true }));
    const input = write("in.jsonl", [{ id: "a", prompt_ids: [1, 2], response_ids: [3] }]);
    const run = async (device: string) => {
      const { ended, output } = startCli(
        script,
        ["score", "--model", QWEN_A, "--in", input, "--device", device],
        {
          env: { VK_ICD_FILENAMES: join(folder, "none.json"), VK_DRIVER_FILES: "" },
        },
      );
      return { ...(await ended), ...output };
    };
    const cpu = await run("auto");
    expect(cpu).toMatchObject({ code: 0 });
    expect(cpu.err).toMatch(/No WebGPU device \(.*\): computing with plain TypeScript/);
    expect(JSON.parse(cpu.out)).toMatchObject({ id: "a" });
    const gpu = await run("webgpu");
    expect(gpu).toMatchObject({ code: 1, out: "" });
    expect(gpu.err.trimEnd().split("\n").at(-1)).toMatch(/^gcopd: no WebGPU device: .*--device cpu$/);
  });
});

/** Each tensor's bytes by name. */
function tensors(bytes: Buffer): Record<string, string> {
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString("utf8", 8, 8 + length)) as Record<
    string,
    { data_offsets: [number, number] }
  >;
  return Object.fromEntries(
    Object.entries(header)
      .filter(([name]) => name !== "__metadata__")
      .map(([name, { data_offsets }]) => [
        name,
        bytes.toString("base64", 8 + length + data_offsets[0], 8 + length + data_offsets[1]),
      ]),
  );
}
