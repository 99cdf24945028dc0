import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CONTROLS, SOURCE_BUDGETS } from "../../core/retrieval/selection.ts";
import { AXES, formatPlace, HOME, type Place, parsePlace, SORT_KEYS, VIEWS } from "./place.ts";

const name = fc.string({ minLength: 1, unit: "grapheme" });
const count = fc.integer({ min: 0, max: 999_999_999 });
const places: fc.Arbitrary<Place> = fc.record({
  view: fc.constantFrom(...VIEWS),
  library: fc.constantFrom("sample" as const, "own" as const, null),
  task: fc.option(name),
  environment: fc.option(name),
  episode: fc.option(name),
  decision: count,
  visit: fc.option(fc.record({ source: name, position: count })),
  token: fc.option(count),
  axis: fc.constantFrom(...AXES),
  control: fc.constantFrom(...CONTROLS),
  budget: fc.constantFrom(null, ...SOURCE_BUDGETS),
  augmentation: fc.boolean(),
  terminalNote: fc.boolean(),
  filter: fc.string({ unit: "grapheme" }),
  sort: fc.constantFrom(...SORT_KEYS),
  descending: fc.boolean(),
});

describe("place", () => {
  it("reads back what it writes", () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(parsePlace(formatPlace(place))).toEqual({ place, problems: [] });
      }),
    );
  });

  it("never throws, whatever the hash", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (hash) => {
        expect(VIEWS).toContain(parsePlace(`#/${hash}`).place.view);
      }),
    );
  });

  it("takes an empty hash as the library", () => {
    for (const hash of ["", "#", "#/"]) expect(parsePlace(hash)).toEqual({ place: HOME, problems: [] });
  });

  it("writes the shortest link", () => {
    expect(formatPlace(HOME)).toBe("#/library");
    expect(formatPlace({ ...HOME, view: "task", library: "sample", task: "melt|12|easy", decision: 3 })).toBe(
      "#/task/melt%7C12%7Ceasy?library=sample&decision=3",
    );
  });

  it.each([
    ["#/somewhere", "view called “somewhere”"],
    ["#/task/%E0%A4%A", "not correctly escaped"],
    ["#/task/a/b", "goes on after the task"],
    ["#/task/a?decision=-1", "“decision=-1”"],
    ["#/task/a?decision=1e3", "whole number"],
    ["#/task/a?decision=3.5", "whole number"],
    ["#/tokens/a?token=x", "“token=x”"],
    ["#/task/a?visit=@4", "source@position"],
    ["#/task/a?visit=teacher:1", "source@position"],
    ["#/library?sort=size", "one of task"],
    ["#/library?library=theirs", "sample or own"],
    ["#/library?constructor=1", "unknown part “constructor”"],
    ["#/task/a?control=magic", "one of graph, success-only"],
    ["#/task/a?sources=3", "one of 1, 4, 8, 16"],
    ["#/task/a?augmentation=maybe", "expected off"],
    ["#/task/a?terminal-note=1", "expected on"],
    ["#/task/a?episode=", "expected a name"],
  ])("says what is wrong with %s", (hash, message) => {
    const { problems } = parsePlace(hash);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
  });
});
