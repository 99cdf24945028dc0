import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import fc from "../../../test/support/property.ts";
import { lastLine, readLines, toEvent } from "./output.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-output-"));
  file = join(folder, "out");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("leaves an unfinished line for later, and takes it at the end", () => {
  expect(readLines(file, 0, { final: true })).toEqual({ lines: [], offset: 0, more: false });
  writeFileSync(file, "one\ntw");
  expect(readLines(file, 0, { final: false })).toEqual({ lines: ["one"], offset: 4, more: false });
  expect(readLines(file, 4, { final: false })).toEqual({ lines: [], offset: 4, more: false });
  appendFileSync(file, "o\n\nthree");
  expect(readLines(file, 4, { final: false })).toEqual({ lines: ["two", ""], offset: 9, more: false });
  expect(readLines(file, 9, { final: true })).toEqual({ lines: ["three"], offset: 14, more: false });
});

it("gives every line once and whole, whatever the buffer's size and the lines' bytes", () => {
  const line = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replace(/\n/g, ""));
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 12 }),
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      (all, chunk, end) => {
        writeFileSync(file, all.join("\n") + (end && all.length > 0 ? "\n" : ""));
        const lines: string[] = [];
        let part = { lines, offset: 0, more: true };
        while (part.more) {
          part = readLines(file, part.offset, { final: true, chunk });
          lines.push(...part.lines);
        }
        const expected = all.join("\n") === "" && !end ? [] : all;
        // A last empty line without its newline is not a line.
        if (!end && expected.at(-1) === "") expected.pop();
        expect(lines).toEqual(expected);
      },
    ),
    { numRuns: 300 },
  );
});

it("tells progress from other output", () => {
  expect(toEvent('{"step": 1}\r')).toEqual({ type: "progress", data: { step: 1 }, text: '{"step": 1}' });
  for (const text of ["plain", "[1]", "null", "3", '{"step":']) {
    expect(toEvent(text)).toEqual({ type: "output", data: { text }, text: JSON.stringify({ text }) });
  }
  expect(toEvent("  ")).toBeNull();
});

it("finds the last line of a log that says anything, as it stood on the screen", () => {
  writeFileSync(file, "first\n10 %\r20 %\r\u001b[31mlast\u001b[0m\n\n  \n");
  expect(lastLine(file)).toBe("last");
  writeFileSync(file, "error: required option '--out <folder>'\n(add --help for the options)\n");
  expect(lastLine(file)).toBe("error: required option '--out <folder>'");
  writeFileSync(file, "\n");
  expect(lastLine(file)).toBeNull();
  expect(lastLine(join(folder, "none"))).toBeNull();
});
