import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { FileFaults } from "../../../test/support/file-faults.ts";
import { writeInput } from "./input-file.ts";

let files: FileFaults;
beforeAll(async () => {
  files = await FileFaults.install();
});
afterAll(() => files.restore());

it.each(["short", "full", "EIO", "ENOSPC", "EMFILE"] as const)(
  "leaves the old file or the new one, whole, after %s of the disk, and answers 503",
  async (fault) => {
    const folder = mkdtempSync(join(tmpdir(), "gcopd-input-"));
    const send = (text: string) => writeInput(folder, "a/b", [Buffer.from(text)], "PUT", () => {});
    await send("old");
    try {
      const begin = () => {
        writeFileSync(join(folder, "a/b"), "old");
        return folder;
      };
      const met = await files.each(fault, begin, async () => {
        const answered = await send("the new one").catch((error: unknown) => error);
        files.disarm();
        expect(["old", "the new one"]).toContain(readFileSync(join(folder, "a/b"), "utf8"));
        expect(readdirSync(folder)).toEqual(["a"]);
        if (answered instanceof Error) expect(answered).toMatchObject({ status: 503 });
        else expect(readFileSync(join(folder, "a/b"), "utf8")).toBe("the new one");
      });
      expect(met.length).toBeGreaterThan(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/worker/job/input-file.test.ts"])).toEqual([]);
});
