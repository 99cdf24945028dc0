import { describe, expect, it } from "vitest";
import fc from "../../../test/support/property.ts";
import { EVIDENCE_RECORDS, type EvidencePart } from "../../core/evidence/index.ts";
import { CONTROLS, SOURCE_BUDGETS } from "../../core/retrieval/selection.ts";
import { uniforms } from "../../core/seeded.ts";
import { ADDRESS_KEYS } from "./address-keys.ts";
import { formatPlace, isSharedPath, parsePlace } from "./link.ts";
import {
  AXES,
  CHANGE_SORTS,
  HOME,
  MOST_HIGHLIGHTS,
  type Place,
  SIGNALS,
  SORT_KEYS,
  SUBSETS,
  VIEWS,
} from "./place.ts";
import { evidenceSideKey } from "./sides.ts";
import { partOfLibrary } from "./what-if.ts";

/** JSON can hold halves of surrogate pairs in any name; U+FDD0 is what stands for them in a link. */
const unit = fc.oneof(
  { weight: 9, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.constantFrom("\ud83d", "\udc4d", "\ufdd0", "\ufdd0d83d", "\u202e", "\0") },
);
const name = fc.string({ minLength: 1, unit });
const count = fc.integer({ min: 0, max: 999_999_999 });
const share = fc.constantFrom(0, 1e-7, 0.1, 0.25, 0.5, 1);
const subset = fc.record({ successTasks: share, failures: share, seed: fc.maxSafeNat() }).map(partOfLibrary);
const evidenceSides = fc
  .record({
    control: fc.constantFrom(...CONTROLS),
    sourcesPerTask: fc.constantFrom(null, ...SOURCE_BUDGETS),
    augmentation: fc.boolean(),
    subset,
    terminalFailureNote: fc.boolean(),
  })
  .map(evidenceSideKey);
const sideKey = fc.oneof(
  evidenceSides,
  fc.constantFrom("vanilla", "graph", "student", "model:Qwen3-8B:graph"),
);
const runId = fc
  .tuple(fc.constantFrom("page", "train"), fc.integer({ min: 0, max: 2 ** 31 }))
  .map(([kind, n]) => `${kind}-${n.toString(16).padStart(12, "0")}`);
const part: fc.Arbitrary<EvidencePart> = fc.oneof(
  fc.record({ record: fc.constantFrom(...EVIDENCE_RECORDS), event: fc.constant(null) }),
  fc.record({
    record: fc.constantFrom("student" as const, "success" as const, "failure" as const),
    event: count,
  }),
);
const pin = fc.record({ source: name, position: fc.option(count) });
const anywhere: fc.Arbitrary<Place> = fc.record({
  view: fc.constantFrom(...VIEWS),
  library: fc.constantFrom("sample", "own", "own-0123456789ab", null),
  // A folder, with / at its end, stands alone.
  disk: fc
    .array(name.filter(isSharedPath), { maxLength: 3 })
    .map((paths) => (paths.some((path) => path.endsWith("/")) ? paths.slice(0, 1) : paths)),
  addresses: fc.array(
    fc.webUrl({ validSchemes: ["https"] }).map((url) => new URL(url).href),
    { maxLength: 3 },
  ),
  task: fc.option(name),
  environment: fc.option(name),
  episode: fc.option(name),
  decision: count,
  visit: fc.option(fc.record({ source: name, position: count })),
  highlights: fc.uniqueArray(name, { maxLength: MOST_HIGHLIGHTS }),
  compared: fc.array(
    fc.record({ kind: fc.constantFrom("source" as const, "episode" as const), id: name, position: count }),
    { maxLength: 2 },
  ),
  part: fc.option(part),
  token: fc.option(count),
  sides: fc.uniqueArray(evidenceSides, { maxLength: 8 }),
  compare: fc.option(fc.record({ base: sideKey, side: sideKey }).filter(({ base, side }) => base !== side)),
  signal: fc.constantFrom(...SIGNALS),
  changesSort: fc.constantFrom(...CHANGE_SORTS),
  changesDescending: fc.boolean(),
  run: fc.option(runId),
  charted: fc.uniqueArray(runId, { maxLength: 6 }),
  runsSort: name,
  runsGroup: fc.string({ unit }),
  runsTags: fc.uniqueArray(name),
  axis: fc.constantFrom(...AXES),
  control: fc.constantFrom(...CONTROLS),
  sourcesPerTask: fc.constantFrom(null, ...SOURCE_BUDGETS),
  augmentation: fc.boolean(),
  subset,
  terminalFailureNote: fc.boolean(),
  endOfTurn: fc.boolean(),
  without: fc.uniqueArray(name),
  pin: fc.option(pin),
  pinFailure: fc.option(pin),
  leaveOut: fc.uniqueArray(part, { selector: ({ record, event }) => `${record} ${event}` }),
  text: fc.option(fc.string({ unit })),
  filter: fc.string({ unit }),
  show: fc.constantFrom(...SUBSETS),
  sort: fc.constantFrom(...SORT_KEYS),
  descending: fc.boolean(),
});

/** What people and programs put where a value belongs. */
const nonsense = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "0",
    "-1",
    "1e9",
    "NaN",
    "null",
    "@",
    "@@3",
    "a@b@c",
    "../..",
    "<script>",
    "%",
    "\u202e",
  ),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "graph",
    "on",
    "off",
    "task",
    "-task",
    "success@1",
    "9".repeat(40),
  ),
  fc.string({ unit: "grapheme" }).map((text) => text.replace(/\s+/g, " ")),
);

/** Parts whose value may be any text, or any text but the empty one. */
const FREE = [
  "task",
  "environment",
  "runs-sort",
  "runs-group",
  "tag",
  "episode",
  "highlight",
  "without",
  "pin",
  "pin-failure",
  "filter",
  "disk",
];

/** Every name that a link can have, as the writer has them. */
function parameterNames(): string[] {
  const names = new Set<string>(["task"]);
  for (const place of fc.sample(places, { numRuns: 200, seed: 1 })) {
    for (const key of new URLSearchParams(formatPlace(place).split("?")[1] ?? "").keys()) names.add(key);
  }
  return [...names];
}

/** Files of the worker's disk and addresses do not make one library. */
const places = anywhere.map((place) => (place.disk.length > 0 ? { ...place, addresses: [] } : place));

describe("place", () => {
  it("reads back what it writes", () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(parsePlace(formatPlace(place))).toEqual({ place, problems: [] });
      }),
    );
  });

  it.each(ADDRESS_KEYS)("reads back the values that it writes as $name", ({ name, read, write }) => {
    let count = 0;
    fc.assert(
      fc.property(places, (place) => {
        const values = write(place);
        count += values.length;
        const back = values.reduce<Place | null>((before, value) => before && read(value, before), HOME);
        expect(back && write(back)).toEqual(values);
      }),
    );
    // The task stands before the keys; only older addresses have it among them.
    expect(count > 0).toBe(name !== "task");
  });

  it("takes no path of the worker's disk that leads out of the shared folder", () => {
    for (const path of ["../x.jsonl", "/etc/passwd", "a//b", "a/../b", ".ssh/key", "a\\b"]) {
      const { place, problems } = parsePlace(`#/library?disk=${encodeURIComponent(path)}`);
      expect(place.disk).toEqual([]);
      expect(problems).toEqual([
        expect.stringContaining("expected the path of a file that the worker shares"),
      ]);
    }
  });

  it("takes no address that a page may not fetch, and none beside files of the disk", () => {
    for (const address of [
      "ftp://host/a.jsonl",
      "http://example.org/a.jsonl",
      "https://me:secret@host/a",
      "a",
    ]) {
      const { place, problems } = parsePlace(`#/library?address=${encodeURIComponent(address)}`);
      expect(place.addresses).toEqual([]);
      expect(problems).toEqual([expect.stringContaining("expected an address that a page may fetch")]);
    }
    const { place, problems } = parsePlace("#/library?disk=a.jsonl&address=https%3A%2F%2Fhost%2Fb.jsonl");
    expect([place.disk, place.addresses, problems.length]).toEqual([["a.jsonl"], [], 1]);
  });

  it("never throws, whatever the hash", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (hash) => {
        expect(VIEWS).toContain(parsePlace(`#/${hash}`).place.view);
      }),
    );
  });

  it("names each part that it does not understand, in characters that show", () => {
    for (const key of parameterNames()) {
      // What is not a value of any part: names and filters may be anything but empty.
      for (const nonsense of ["\u202e\u001b[31m", ""]) {
        const { place, problems } = parsePlace(`#/task/a?${new URLSearchParams([[key, nonsense]])}`);
        if (problems.length === 0) {
          expect(FREE, `${key}=${JSON.stringify(nonsense)}`).toContain(key);
          continue;
        }
        expect(problems).toEqual([expect.stringContaining(`“${key}=`)]);
        expect(problems[0]).toMatch(/ in the link: expected [^\p{C}]+\.$/u);
        expect(problems[0]).not.toMatch(/\p{C}/u);
        expect(place).toEqual({ ...HOME, view: "task", task: "a" });
      }
    }
  });

  it("uses of any link only what is a link again", () => {
    const hashes = fc
      .tuple(
        fc.constantFrom(...VIEWS, "nowhere", ""),
        fc.option(nonsense, { nil: "" }),
        fc.array(fc.tuple(fc.constantFrom(...parameterNames()), nonsense), { maxLength: 12 }),
      )
      .map(
        ([view, task, parameters]) =>
          `#/${view}/${encodeURIComponent(task)}?${new URLSearchParams(parameters)}`,
      );
    fc.assert(
      fc.property(hashes, (hash) => {
        const { place, problems } = parsePlace(hash);
        expect(parsePlace(formatPlace(place))).toEqual({ place, problems: [] });
        // Each problem is a sentence of one line that names what it is about.
        for (const problem of problems) expect(problem).toMatch(/^[^\n]*“[^\n]*\.$/u);
      }),
      { numRuns: 500 },
    );
  });

  it("leaves a text out that is too long for it, and takes it from elsewhere", () => {
    const next = uniforms(7);
    const text = Array.from({ length: 9_000 }, () => next().toString(36)).join(" ");
    const hash = formatPlace({ ...HOME, text });
    expect(hash.length).toBeLessThan(100);
    expect(parsePlace(hash, text)).toEqual({ place: { ...HOME, text }, problems: [] });
    expect(parsePlace(hash).place.text).toBeNull();
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
    ["#/task/a?evidence=all", "one of note, student, success, failure"],
    ["#/task/a?evidence=success@-1", "@event"],
    ["#/task/a?evidence=note@0", "“evidence=note@0”"],
    ["#/tokens/a?sides=with:magic", "with:success-only"],
    ["#/tokens/a?sides=with:graph,with:graph", "with commas between"],
    ["#/tokens/a?sides=graph", "with commas between"],
    ["#/tokens/a?compare=graph", "two sides"],
    ["#/tokens/a?compare=graph,graph", "two sides"],
    ["#/tokens/a?compare=<b>,graph", "two sides"],
    ["#/tokens/a?signal=colour", "one of delta"],
    ["#/tokens/a?changes=--change", "one of change, signed"],
    ["#/library?sort=size", "one of task"],
    ["#/library?library=theirs", "expected sample, miniature, miniature-30, miniature-75, own, or own-"],
    ["#/library?constructor=1", "unknown part “constructor”"],
    ["#/task/a?control=magic", "one of graph, success-only"],
    ["#/task/a?sources=3", "one of 1, 4, 8, 16"],
    ["#/task/a?augmentation=maybe", "expected off"],
    ["#/task/a?terminal-note=1", "expected on"],
    ["#/task/a?end-of-turn=on", "expected off"],
    ["#/task/a?episode=", "expected a name"],
    ["#/task/a?without=x&without=x", "“without=x”"],
    ["#/task/a?pin=", "source@position"],
    ["#/task/a?leave-out=all", "one of note, student, success, failure"],
    ["#/task/a?leave-out=student&leave-out=student", "each once"],
    ["#/task/a?text=not%20packed", "an edited evidence as the page writes it"],
    ["#/task/a?text=*", "drop the record file"],
  ])("says what is wrong with %s", (hash, message) => {
    const { problems } = parsePlace(hash);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
  });
});
