/** Refusals before any work: no device is opened, no server started, no weight read. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, CPU, freshFolder, lines, MODEL, refused, TOKENIZER } from "./support/bad-input.ts";
import { runCli } from "./support/cli.ts";
import { modelFixture } from "./support/golden.ts";

freshFolder();

it("score: ids and the place to write to are looked at before a device is opened", async () => {
  const score = ["score", "--model", MODEL, "--in", at("in.jsonl"), ...CPU];
  expect(await refused([...score, "--out", at("none/scores.jsonl")])).toBe(
    `gcopd: ${at("none/scores.jsonl")}: the folder to write into does not exist`,
  );
  expect(await refused([...score, "--out", at("batch.jsonl/scores.jsonl")])).toContain("not a folder");
  writeFileSync(at("in.jsonl"), lines([{ id: "a", prompt_ids: [1, 10 ** 6], response_ids: [3] }]));
  expect(await refused([...score, "--out", at("out.jsonl")])).toContain(
    "in.jsonl, line 1, prompt_ids[1]: id 1000000 is not in the model's vocabulary",
  );
});

it("worker: a folder without the page", async () => {
  mkdirSync(at("page"));
  const { code, err } = await runCli("worker", "--port", "0", "--data", at("data"), "--page", at("page"));
  expect([code, err]).toEqual([
    1,
    `gcopd: --page: expected a folder with the page's index.html, got ${JSON.stringify(at("page"))}\n`,
  ]);
});

it("worker: a data folder below a file", async () => {
  const data = at("in.jsonl");
  const { code, err } = await runCli("worker", "--port", "0", "--data", data);
  expect([code, err]).toEqual([
    1,
    `gcopd: ${data}, --data: cannot be made a folder: a part of the path is not a folder\n`,
  ]);
});

it("--version tells the package's", async () => {
  const { code, out } = await runCli("--version");
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

describe("a tokenizer is looked at as the config is read", () => {
  const environment = { name: "alfworld", made: { count: 1, seed: 0, size: "small" } };
  const models = { teacher: modelFixture("tiny-b"), student: modelFixture("tiny-a") };
  const playing = { environment, model: models.student };
  const configs = {
    collect: playing,
    evaluate: playing,
    experiment: { environment, ...models, methods: ["opd"] },
    train: { ...models, episodes: "episodes.jsonl", method: "opd", evaluate: { every: 1, environment } },
  };
  const commands = Object.keys(configs) as (keyof typeof configs)[];
  const started = (command: keyof typeof configs, tokenizer?: string) => {
    writeFileSync(at("config.json"), JSON.stringify({ ...configs[command], tokenizer }));
    return refused([command, "--config", at("config.json"), "--out", at("out")]);
  };
  const told = (file: string, key = "tokenizer") => `gcopd: ${file}, ${key}: `;

  it.each(commands)("%s: none", async (command) => {
    expect(await started(command)).toMatch(/config\.json, tokenizer: .*folder has no tokenizer\.json/);
    const missing = await started(command, "nowhere");
    expect(missing).toContain(told(at("config.json")));
    expect(missing).toContain(at("nowhere"));
  });

  it.each(commands)("%s: one whose file was cut, and one with too many ids", async (command) => {
    cpSync(TOKENIZER, at("tok"), { recursive: true });
    const file = join(at("tok"), "tokenizer.json");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, whole.slice(0, -100));
    expect(await started(command, "tok")).toContain(`${told(at("config.json"))}${file}`);
    const json = JSON.parse(whole) as { added_tokens: object[] };
    json.added_tokens.push({ ...json.added_tokens[0], id: 1990, content: "<|far|>" });
    writeFileSync(file, JSON.stringify(json));
    const far = await started(command, "tok");
    expect(far).toMatch(/config\.json, (tokenizer|student): /);
    expect(far).toContain("the tokenizer does not fit the model: it has ids up to 1990");
  });

  it("experiment: a teacher on a server has its tokenizer here", async () => {
    const config = { ...configs.experiment, teacher: "http://127.0.0.1:9" };
    writeFileSync(at("config.json"), JSON.stringify(config));
    expect(await refused(["experiment", "--config", at("config.json"), "--out", at("out")])).toContain(
      `${told(at("config.json"))}missing; expected a folder with the tokenizer`,
    );
  });
});
