import { expect, it } from "vitest";
import { modelDigest } from "./model-digest.ts";

const folder = (files: Record<string, string>) => ({
  name: "model",
  files: new Map(Object.entries(files).map(([name, text]) => [name, new Blob([text])])),
});

it("tells models apart by weights, config and tokenizer, and not by the optimizer's state", async () => {
  const files = { "config.json": "{}", "model.safetensors": "weights", "tokenizer.json": "[]" };
  const mine = await modelDigest(folder(files));
  expect(await modelDigest(folder({ ...files, "optimizer.safetensors": "m", "notes.txt": "x" }))).toBe(mine);
  for (const name of Object.keys(files))
    expect(await modelDigest(folder({ ...files, [name]: "other" })), name).not.toBe(mine);
});
