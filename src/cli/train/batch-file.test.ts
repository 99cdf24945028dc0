import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { writeBatch } from "./batch-file.ts";
import { readLines } from "./event-log.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-batch-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("marks a bridge, and nothing else", () => {
  const one = Float32Array.of(1);
  const row = {
    ...{ episode: "e", decision: 2, weight: 0.5, ids: toyCodec.encode("a"), clipped: Uint8Array.of(0) },
    ...{ logprobs: one, teacherLogprobs: one, ratio: one, advantage: one },
  };
  const path = join(folder, "batch.jsonl");
  writeBatch(path, { step: 1, decisions: [row, { ...row, bridge: true }] }, toyCodec);
  const [head, own, bridge] = readLines(path);
  expect(head).toEqual({ step: 1, decisions: 2 });
  expect(own).not.toHaveProperty("bridge");
  expect(bridge).toEqual({ ...own, bridge: true });
});
