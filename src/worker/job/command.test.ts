import { dirname, resolve } from "node:path";
import { expect, it } from "vitest";
import { checkConfig, commandArgs } from "./command.ts";
import { JobRequest } from "./job.ts";

const args = (request: unknown) => commandArgs(JobRequest.parse(request), "/out");

it("spells a scoring job as the command line does", () => {
  expect(args({ kind: "score", model: "/m", in: "/r.jsonl" })).toEqual([
    "score",
    ...["--model", "/m", "--in", "/r.jsonl", "--out", "/out/scores.jsonl"],
    ...["--device", "auto", "--progress", "json"],
  ]);
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
