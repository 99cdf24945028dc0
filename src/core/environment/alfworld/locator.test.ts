import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fixtureFolder } from "../../../../test/support/environment-fixture.ts";
import fc from "../../../../test/support/property.ts";
import { factKey, locateFacts } from "./locator.ts";

interface Trace {
  game: string;
  command: string | null;
  facts: string[];
  won: boolean;
  lost: boolean;
  key: string;
}

const TRACES = gunzipSync(readFileSync(join(fixtureFolder("alfworld"), "engine-traces.jsonl.gz")))
  .toString("utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Trace);

describe("states of the engine", () => {
  test("have their recorded keys, every one", () => {
    expect(TRACES).toHaveLength(282);
    for (const { game, facts, won, lost, key } of TRACES) {
      expect(factKey({ gamefile: game, facts: [...facts].reverse(), won, lost })).toBe(key);
    }
    expect(TRACES.filter(({ won }) => won).length).toBeGreaterThan(0);
  });

  test("have another key for another fact, game or flag", () => {
    const { game, facts, won, lost, key } = TRACES[0]!;
    const state = { gamefile: game, facts, won, lost };
    for (const other of [
      { ...state, gamefile: `${game}x` },
      { ...state, facts: facts.slice(1) },
      { ...state, facts: [...facts, "checked(loccenter: location)"] },
      { ...state, won: true },
      { ...state, lost: true },
    ]) {
      expect(factKey(other)).not.toBe(key);
    }
  });

  test("do not depend on the order of the facts", () => {
    const facts = fc.uniqueArray(fc.string({ unit: "grapheme" }), { maxLength: 8 });
    const shuffled = facts.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        const at = (some: string[]) => factKey({ gamefile: "g", facts: some, won: false, lost: false });
        expect(at(other)).toBe(at(list));
      }),
    );
  });

  test("spell letters beyond ASCII as escapes, in the order of code points", () => {
    // SHA-256 of {"facts":["at(\uff21)","at(\ud83d\ude00)"],"gamefile":"g\u00e9","lost":false,"won":true}
    expect(factKey({ gamefile: "gé", facts: ["at(😀)", "at(Ａ)"], won: true, lost: false })).toBe(
      "808518a8df74f02c6946f724690b6634f52152701c34df48f4fc5ac18f255293",
    );
  });
});

describe("captures", () => {
  const good = { id: "x", gamefile: "g", facts: ["a()"], won: false, lost: false };
  const where = { file: "raw.jsonl", line: 4 };

  test("are named as their line names them, or not at all", () => {
    const { key } = locateFacts(good);
    expect(locateFacts(good)).toEqual({
      id: { key: "id", value: "x" },
      key,
      state: { key, mode: "normal", options: {} },
    });
    const { id: _, gamefile, ...rest } = good;
    expect(locateFacts({ ...rest, gamefile, case: "y" }).id).toEqual({ key: "case", value: "y" });
    expect(locateFacts({ ...rest, game: gamefile })).toMatchObject({ id: null, key });
  });

  test.each([
    [{ ...good, gamefile: undefined }, "raw.jsonl, line 4, gamefile: missing; expected string (or `game`)"],
    [{ ...good, facts: "a()" }, "raw.jsonl, line 4, facts: expected array, received string"],
    [{ ...good, facts: [1] }, "raw.jsonl, line 4, facts[0]: expected string, received number"],
    [{ ...good, won: undefined }, "raw.jsonl, line 4, won: missing; expected boolean"],
    [{ ...good, lost: 0 }, "raw.jsonl, line 4, lost: expected boolean, received number"],
    [[], "raw.jsonl, line 4: expected object, received array"],
  ])("%#", (raw, message) => {
    expect(() => locateFacts(raw, where)).toThrow(message);
  });
});
