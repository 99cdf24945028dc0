/** Refusals before any work: no device is opened, no server started, no weight read. */
import { mkdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { at, CPU, freshFolder, lines, MODEL, refused } from "./support/bad-input.ts";
import { runCli } from "./support/cli.ts";

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
