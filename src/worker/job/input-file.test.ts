import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FileFaults } from "../../../test/support/file-faults.ts";
import { writeInput } from "./input-file.ts";

let files: FileFaults;
beforeAll(async () => {
  files = await FileFaults.install();
});
afterAll(() => files.restore());

it("leaves the old file or the new one, whole, after any fault of the disk, and answers 503", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gcopd-input-"));
  const send = (text: string) => writeInput(folder, "a/b", [Buffer.from(text)], "PUT", () => {});
  try {
    files.arm(folder);
    await send("old");
    const { operations } = files;
    for (const [at, operation] of operations.entries())
      for (const fault of operation.faults) {
        files.disarm();
        await send("old");
        files.arm(folder, at, fault);
        const answered = await send("the new one").catch((error: unknown) => error);
        files.disarm();
        const what = `${fault} at ${operation.name} ${operation.path}`;
        expect(["old", "the new one"], what).toContain(readFileSync(join(folder, "a/b"), "utf8"));
        expect(readdirSync(folder), what).toEqual(["a"]);
        if (answered instanceof Error) expect(answered, what).toMatchObject({ status: 503 });
        else expect(readFileSync(join(folder, "a/b"), "utf8"), what).toBe("the new one");
      }
    expect(operations.length).toBeGreaterThan(4);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
