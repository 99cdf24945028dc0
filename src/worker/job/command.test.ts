import { dirname, resolve } from "node:path";
import { expect, it } from "vitest";
import { JobRequest } from "../../protocol/job.ts";
import { checkConfig, checkedRequest, commandArgs } from "./command.ts";

const args = (request: unknown) => commandArgs(JobRequest.parse(request), "/out");

it("spells a scoring job as the command line does", () => {
  expect(args({ kind: "score", model: "/m", in: "/r.jsonl" })).toEqual([
    "score",
    ...["--model", "/m", "--in", "/r.jsonl", "--out", "/out/scores.jsonl"],
    ...["--device", "auto", "--progress", "json"],
  ]);
});

it("scores by a server where one is named, and takes each key with what it goes with", async () => {
  const here = import.meta.dirname;
  const server = { kind: "score", teacher: "http://127.0.0.1:8000", in: import.meta.filename };
  expect(args({ ...server, in: "/r.jsonl", teacher_model: "big", calibrate_with: "/m" })).toEqual([
    "score",
    ...["--url", "http://127.0.0.1:8000", "--served-model", "big", "--calibrate-with", "/m"],
    ...["--in", "/r.jsonl", "--out", "/out/scores.jsonl", "--device", "auto", "--progress", "json"],
  ]);
  const check = (request: unknown) => checkedRequest(JobRequest.parse(request), "here");
  await check({ ...server, tokenizer: here });
  await check({ ...server, calibrate_with: here });
  const { teacher, ...without } = server;
  for (const [request, message] of [
    [without, "here, model: expected either `model`, a folder, or `teacher`"],
    [{ ...server, model: here }, "here, model: expected either"],
    [server, "here, tokenizer: missing: expected the folder of the tokenizer"],
    [{ ...server, tokenizer: "relative" }, "here, tokenizer: expected an absolute path"],
    [{ ...server, calibrate_with: "/nowhere" }, "here, calibrate_with: expected a folder"],
    [{ ...without, model: here, teacher_model: "x" }, "here, teacher_model: only applies with `teacher`"],
    [
      { ...without, teacher: "/models/x", tokenizer: here },
      'teacher: expected the address of a server, got "/models/x"',
    ],
  ] as const)
    await expect(check(request), message).rejects.toThrow(message);
  expect(() => JobRequest.parse({ ...server, engines: {} })).toThrow(/engines/);
});

it("leaves a training job's device to its config unless the request names one", () => {
  const job = { kind: "train", config: "/c.json" };
  expect(args(job)).toEqual(["train", "--config", "/c.json", "--out", "/out", "--progress", "json"]);
  expect(args({ ...job, device: "cpu" })).toEqual([
    ...["train", "--config", "/c.json", "--out", "/out"],
    ...["--device", "cpu", "--progress", "json"],
  ]);
});

it("takes a shop's catalogue as a file, and nothing else", async () => {
  const shop = resolve(import.meta.dirname, "../../../test/fixtures/live/webshop/shop.json");
  const train = (games: string) =>
    checkConfig(
      {
        library: shop,
        environment: { name: "webshop", games },
        ...{ teacher: "/nowhere", student: "/nowhere" },
      },
      "here",
    );
  await expect(train(shop)).rejects.toThrow("here, config.teacher: expected a folder");
  await expect(train(dirname(shop))).rejects.toThrow("here, config.environment.games: expected a file");
});

it("checks the files that a student is measured on", async () => {
  const evaluate = { every: 5, environment: { name: "alfworld", games: "/nowhere" } };
  await expect(
    checkConfig(
      { episodes: import.meta.filename, evaluate, teacher: "/t", student: "/s", method: "opd" },
      "here",
    ),
  ).rejects.toThrow("here, config.evaluate.environment.games: expected a folder");
});

it("runs no command that a config names", async () => {
  const engines = { teacher: { command: "touch /tmp/x", ready: "http://127.0.0.1:1/" } };
  await expect(
    checkConfig(
      { episodes: import.meta.filename, engines, teacher: "/t", student: "/s", method: "opd" },
      "here",
    ),
  ).rejects.toThrow("here, config.engines: names commands, which the worker does not run");
});
