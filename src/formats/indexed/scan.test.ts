/** The scanner against the full reader: whatever it vouches for is what the parsed and checked record says. */

import { describe, expect, it } from "vitest";
import { library, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import fc from "../../../test/support/property.ts";
import { fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { InputError } from "../../core/errors.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { checkAnyRecord, parseObject } from "../read.ts";
import { outlineOf } from "./build.ts";
import { Scanner } from "./scan.ts";
import type { Outline } from "./types.ts";

const scanner = new Scanner();
const bytes = (text: string) => new TextEncoder().encode(text);

/** The outline by the full reader, or null where that refuses the line. */
function slow(line: Uint8Array): Outline | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
    const { kind, record } = checkAnyRecord(parseObject(text, { file: "f", line: 1 }), {
      file: "f",
      line: 1,
    });
    return kind === "source" || kind === "episode" ? outlineOf(record as Source | Episode) : null;
  } catch (error) {
    if (error instanceof InputError || error instanceof TypeError) return null;
    throw error;
  }
}

const SOURCE = fixtureSources()[0]!;
const line = (changes: object) => JSON.stringify({ ...SOURCE, ...changes });

describe("the scanner", () => {
  it("outlines every record of the fixture as the full reader does", () => {
    for (const record of [...fixtureSources(), ...fixtureEpisodes()]) {
      expect(scanner.outline(bytes(JSON.stringify(record)))).toStrictEqual(outlineOf(record));
    }
  });

  it("outlines any record, however it is spaced and whatever its texts hold", () => {
    const texts = fc.record({
      task: fc.string({ unit: "binary" }),
      task_description: fc.string({ unit: "binary", maxLength: 150 }),
      "odd key": fc.jsonValue(),
      outcome_unknown: fc.constantFrom(undefined, true, false, "true"),
    });
    const records = fc.oneof(library, fc.tuple(studentEpisode)) as fc.Arbitrary<(Source | Episode)[]>;
    const indent = fc.constantFrom(undefined, " ", "\t");
    fc.assert(
      fc.property(records, texts, indent, (some, changes, space) => {
        for (const record of some) {
          const text = bytes(JSON.stringify({ ...record, ...changes }, null, space).replaceAll("\n", "\r"));
          const full = slow(text);
          expect(full).not.toBeNull();
          expect(scanner.outline(text)).toStrictEqual(full);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("knows an outcome that nobody recorded, wherever the mark is", () => {
    const { outcome } = SOURCE;
    for (const [changes, unknown] of [
      [{ outcome_unknown: true }, true],
      [{ outcome: { ...outcome, outcome_unknown: true } }, true],
      [{ outcome_unknown: false }, undefined],
    ] as const) {
      const text = bytes(line(changes));
      expect(scanner.outline(text)?.outcome_unknown).toBe(unknown);
      expect(scanner.outline(text)).toStrictEqual(slow(text));
    }
  });

  it("reads keys in any order, and braces, quotes and backslashes inside texts", () => {
    const hard = 'a "quoted" \\ {[}] \\" \\\\ \u2028 é 😀 \n';
    const decisions = [{ ...SOURCE.decisions[0]!, observation: hard.repeat(9), extra: [{ a: [[{}]] }, "]"] }];
    const record = { ...SOURCE, task: hard, source: hard, task_description: hard, decisions };
    const reversed = Object.fromEntries(Object.entries(record).reverse());
    for (const value of [record, reversed]) {
      const outline = scanner.outline(bytes(JSON.stringify(value)));
      expect(outline).toMatchObject({ task: hard, id: hard, description: hard, decisions: 1 });
    }
  });

  it("takes the last of a key that comes twice, as JSON.parse does", () => {
    const twice = bytes(
      `{"decisions":[{},{}],"task":"first",${line({ decisions: [] }).slice(1, -1)},"task":"last"}`,
    );
    expect(scanner.outline(twice)).toMatchObject({ task: "last", decisions: 0 });
    expect(scanner.outline(twice)).toStrictEqual(slow(twice));
    const before = bytes(`${line({}).slice(0, -1)},"decisions":7}`);
    expect(scanner.outline(before)).toBeNull();
  });

  it("leaves to the full reader what it cannot vouch for", () => {
    for (const text of [
      "",
      "null",
      "[]",
      "{}",
      "{",
      '{"',
      '{"a',
      '{"a":',
      '{"a":"\\',
      line({}).slice(0, -1),
      `${line({})}}`,
      `${line({})} x`,
      line({}).replace('"task"', '"t\\u0061sk"'),
      line({ task: 3 }),
      line({ source: null }),
      line({ repetition: 1.5 }),
      line({ repetition: undefined }),
      line({ origin: { kind: "martian" } }),
      line({ outcome: { ...SOURCE.outcome, success: "yes" } }),
      line({ outcome: undefined }),
      line({ decisions: {} }),
      line({ format: "gcopd.source.v2" }),
    ]) {
      expect(scanner.outline(bytes(text)), text.slice(0, 60)).toBeNull();
    }
  });

  it("never throws and never disagrees with the full reader on damaged bytes", () => {
    // 20,000 lines with one to four bytes changed, put in or left out.
    const tokens = bytes('"\\{}[],:0123truefalsn \té\u0000');
    const originals = [SOURCE, fixtureEpisodes()[0]!].map((record) =>
      bytes(JSON.stringify({ ...record, decisions: record.decisions.slice(0, 1) })),
    );
    let vouched = 0;
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...originals),
        fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom("set", "insert", "remove")), {
          minLength: 1,
          maxLength: 4,
        }),
        (original, edits) => {
          const damaged = [...original];
          for (const [place, token, edit] of edits) {
            const at = place % damaged.length;
            const byte = tokens[token % tokens.length]!;
            if (edit === "set") damaged[at] = byte;
            else damaged.splice(at, edit === "remove" ? 1 : 0, ...(edit === "insert" ? [byte] : []));
          }
          const changed = Uint8Array.from(damaged);
          const fast = scanner.outline(changed);
          const full = slow(changed);
          if (fast !== null) vouched++;
          if (full !== null) accepted++;
          if (fast !== null && full !== null) expect(fast).toStrictEqual(full);
        },
      ),
      { numRuns: 20_000 },
    );
    // Both kinds of outcome were there, or the property would say nothing.
    expect(vouched).toBeGreaterThan(2000);
    expect(accepted).toBeGreaterThan(1000);
  });
});
