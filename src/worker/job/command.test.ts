import { expect, it } from "vitest";
import { commandArgs } from "./command.ts";
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
