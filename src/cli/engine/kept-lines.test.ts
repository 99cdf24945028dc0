import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { PACKAGE } from "../../node/package-root.ts";
import { KeptLines } from "./kept-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-kept-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const opened = async (out: string, identity: object = { of: 1 }) => {
  const kept = await KeptLines.beside(out);
  await kept.open(identity);
  return kept;
};

it("goes on with the lines that it has read, and not with what another attempt adds meanwhile", async () => {
  const path = join(folder, "out.part");
  const open = () => opened(join(folder, "out"));
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
  expect(readFileSync(path, "utf8").split("\n")[0]).toBe(
    `{"format":"gcopd.unfinished.v1","version":"${PACKAGE.version}","of":1}`,
  );
});

it("says what an interrupted command leaves on the disk", async () => {
  const out = join(folder, "left");
  const first = await opened(out);
  expect(first.left).toBe("nothing was written");
  await first.append([{ n: 0 }]);
  first.close();
  const goesOn = `the same command goes on from ${out}.part`;
  expect(first.left).toBe(goesOn);
  expect((await opened(out)).left).toBe(goesOn);
  expect((await KeptLines.beside(out)).left).toBe(`${out}.part is as it was before`);
  const other = await opened(out, { of: 2 });
  expect(other.left).toBe(`${out}.part is as it was before`);
  await other.append([{ n: 0 }]);
  other.close();
  expect(other.left).toBe(goesOn);
  expect((await KeptLines.beside(undefined)).left).toBe("what was printed is not whole");
});
