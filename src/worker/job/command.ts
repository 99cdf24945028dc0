/** What a job's request means on the command line, and what must hold before it is accepted. */
import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import type { JobRequest } from "./job.ts";

/** Name of a scoring job's result in its output folder. */
export const SCORES_FILE = "scores.jsonl";

/** Arguments of the `gcopd` command line. The same for each attempt: a training run goes on in its folder. */
export function commandArgs(request: JobRequest, outFolder: string): string[] {
  const files =
    request.kind === "score"
      ? ["--model", request.model, "--in", request.in, "--out", join(outFolder, SCORES_FILE)]
      : ["--config", request.config, "--out", outFolder];
  const device = request.device === undefined ? [] : ["--device", request.device];
  return [request.kind, ...files, ...device, "--progress", "json"];
}

/** @throws InputError naming the first key whose file or folder is not there. */
export async function checkFiles(request: JobRequest, where: string): Promise<void> {
  switch (request.kind) {
    case "score":
      await expectPath(request.model, "folder", { file: where, key: "model" });
      await expectPath(request.in, "file", { file: where, key: "in" });
      return;
    case "train":
      await expectPath(request.config, "file", { file: where, key: "config" });
  }
}

async function expectPath(
  path: string,
  kind: "file" | "folder",
  where: { file: string; key: string },
): Promise<void> {
  if (!isAbsolute(path))
    throw new InputError(`expected an absolute path, got ${JSON.stringify(path)}`, where);
  const found = await stat(path).catch(() => null);
  if (found !== null && (kind === "file" ? found.isFile() : found.isDirectory())) return;
  const instead =
    found === null ? "nothing" : found.isDirectory() ? "a folder" : found.isFile() ? "a file" : "neither";
  const expected = `expected a ${kind} on the worker's disk; at ${JSON.stringify(path)} there is ${instead}`;
  throw new InputError(expected, where);
}
