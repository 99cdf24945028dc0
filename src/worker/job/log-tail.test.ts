import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { logTail } from "./log-tail.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-tail-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function tail(content: string, lines: number): Promise<string> {
  const file = join(folder, "log");
  writeFileSync(file, content);
  const { text, bytes } = await logTail(file, lines);
  expect(bytes).toBe(Buffer.byteLength(content));
  return text;
}

it("gives the last lines, whole, with or without a newline at the end", async () => {
  expect(await tail("", 3)).toBe("");
  expect(await tail("a\nb\nc\n", 2)).toBe("b\nc\n");
  expect(await tail("a\nb\nc", 2)).toBe("b\nc");
  expect(await tail("a\nb\nc\n", 3)).toBe("a\nb\nc\n");
  expect(await tail("a\nb\nc\n", 9)).toBe("a\nb\nc\n");
  expect(await tail("\n\n\n", 2)).toBe("\n\n");
});

it("reads lines over the borders of its pieces, in any letters", async () => {
  const line = `${"ü".repeat(5000)}\n`;
  expect(await tail(line.repeat(50), 20)).toBe(line.repeat(20));
});
