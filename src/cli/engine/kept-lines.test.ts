import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { KeptLines } from "./kept-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-kept-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("goes on with the lines that it has read, and not with what another attempt adds meanwhile", async () => {
  const path = join(folder, "out.part");
  const open = () => KeptLines.open(path, { of: 1 });
  const read = async (kept: KeptLines) => {
    const found = [];
    for await (const { n } of kept.lines()) found.push(n);
    return found;
  };
  const first = await open();
  await first.append([{ n: 0 }, { n: 1 }]);
  const second = await open();
  expect(await read(second)).toEqual([0, 1]);
  await first.append([{ n: 2 }]);
  await second.append([{ n: 2 }]);
  // The first one still runs.
  await first.append([{ n: 3 }]);
  for (const kept of [first, second]) kept.close();
  expect(await read(await open())).toEqual([0, 1, 2]);
  appendFileSync(path, '{"n":');
  expect(await read(await open())).toEqual([0, 1, 2]);
  expect(readFileSync(path, "utf8").split("\n")[0]).toBe('{"format":"gcopd.unfinished.v1","of":1}');
});
