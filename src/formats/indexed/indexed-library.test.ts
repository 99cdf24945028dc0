/** Index and library together: what is read through an index is what the plain readers give, or an error. */
import { describe, expect, it } from "vitest";
import { fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { InputError } from "../../core/errors.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { rangedBytes } from "../ranged-reader.ts";
import {
  buildIndex,
  fileIdentity,
  indexLines,
  isFresh,
  type LibraryIndex,
  openIndexedLibrary,
  readIndex,
  sampleDigest,
} from "./index.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const lines = (records: readonly object[]) => encode(records.map((r) => `${JSON.stringify(r)}\n`).join(""));

/** The fixture's sources with tasks taking turns, and the episodes between them. */
const sources = [...fixtureSources()].sort((a, b) => a.repetition - b.repetition);
const episodes = fixtureEpisodes();
const mixed: (Source | Episode)[] = sources.flatMap((source, i) =>
  episodes[i] === undefined ? [source] : [source, episodes[i]],
);

async function open(bytes: Uint8Array, index?: LibraryIndex) {
  const reader = rangedBytes(bytes, "f.jsonl");
  return openIndexedLibrary(reader, index ?? (await buildIndex(bytes, { file: "f.jsonl" })));
}

describe("an indexed library", () => {
  it("reads each task's records in file order, whatever order and kinds the file has", async () => {
    for (const records of [mixed, fixtureSources()]) {
      const library = await open(lines(records));
      expect(library.counts.sources).toBe(records.filter((r) => r.format === "gcopd.source.v1").length);
      const seen: (Source | Episode)[] = [];
      for (const [place, { environment, task }] of library.tasks.entries()) {
        expect(library.find(environment, task)).toBe(place);
        const read = [...(await library.readTask(place)), ...(await library.readEpisodes(place))];
        const sameTask = records.filter((record) => record.task === task);
        expect(read).toEqual([
          ...sameTask.filter((record) => record.format === "gcopd.source.v1"),
          ...sameTask.filter((record) => record.format === "gcopd.episode.v1"),
        ]);
        seen.push(...read);
      }
      expect(seen).toHaveLength(records.length);
      expect(library.find("scienceworld", "none")).toBeUndefined();
    }
  });

  it("finds episodes by id", async () => {
    const library = await open(lines(mixed));
    expect(library.episodeIds()).toEqual(episodes.map(({ episode }) => episode));
    const found = await library.readEpisode(episodes[7]!.episode);
    expect(found).toEqual({ episode: episodes[7], line: 16 });
    expect(await library.readEpisode("none")).toBeUndefined();
  });

  it("does not depend on how the bytes are cut", async () => {
    const bytes = lines(mixed.slice(0, 12));
    const whole = await buildIndex(bytes, { file: "f" });
    for (const size of [1, 7, 1000, 4096]) {
      const chunks = function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      };
      expect(await buildIndex(chunks(), { file: "f" })).toEqual(whole);
    }
    const open = bytes.subarray(0, -1);
    expect((await buildIndex(open, { file: "f" })).tasks).toEqual(whole.tasks);
  });

  it("is the same after its file is written and read", async () => {
    const bytes = lines(mixed);
    const reader = rangedBytes(bytes, "f.jsonl");
    const index = await buildIndex(bytes, { file: "f.jsonl" });
    const text = [...indexLines(index, await fileIdentity(reader))].join("");
    const read = (changed: string, accept = true) =>
      readIndex(encode(changed), { file: "f.index" }, async () => accept);
    expect(await read(text)).toEqual(index);
    expect(await read(text, false)).toBeNull();
    expect(await read(text.replace(/"gcopd.index.v\d+"/, '"gcopd.index.v1"'))).toBeNull();
    const rows = text.trimEnd().split("\n");
    for (const damaged of [
      "",
      rows.slice(0, -1).join("\n"),
      rows.slice(1).join("\n"),
      text.slice(0, -20),
      text.replace('"line":', '"line":-'),
      text.replace('"gcopd.index.v', '"gcopd.index.'),
    ]) {
      await expect(read(damaged)).rejects.toThrow(InputError);
    }
  });

  it("knows a file that has changed: size, time or any sampled byte", async () => {
    const bytes = lines(fixtureSources());
    const reader = { ...rangedBytes(bytes, "f"), modified: 5 };
    const identity = await fileIdentity(reader);
    expect(await isFresh(identity, reader)).toBe(true);
    expect(await isFresh(identity, { ...reader, modified: 6 })).toBe(false);
    expect(await isFresh(identity, { ...reader, modified: null })).toBe(true);
    expect(await isFresh(identity, rangedBytes(bytes.subarray(1), "f"))).toBe(false);
    const other = bytes.slice();
    other[other.length >> 1]! ^= 1;
    expect(await isFresh(identity, rangedBytes(other, "f"))).toBe(false);
  });

  it("samples a large file at 64 places, its end among them", async () => {
    const bytes = new Uint8Array(9 << 20);
    const digest = await sampleDigest(rangedBytes(bytes, "f"));
    const changed = async (at: number) => {
      const other = bytes.slice();
      other[at] = 1;
      return (await sampleDigest(rangedBytes(other, "f"))) !== digest;
    };
    expect(await changed(0)).toBe(true);
    expect(await changed(bytes.length - 1)).toBe(true);
    expect(await changed(Math.floor((bytes.length - 65_536) / 63) + 5)).toBe(true);
    expect(await changed(65_536 + 10)).toBe(false);
  });

  it("refuses what is not the record that the index has: nothing is read in its place", async () => {
    const records = fixtureSources().slice(0, 4);
    const bytes = lines(records);
    const index = await buildIndex(bytes, { file: "f.jsonl" });
    const text = new TextDecoder().decode(bytes);
    const swapped = lines([records[1]!, records[0]!, ...records.slice(2)]);
    for (const [changed, message] of [
      [encode(text.replace('"source":"teacher:3"', '"source":"teacher:9"')), /is not the record "teacher:3"/],
      [encode(text.replace('"success":true', '"success":null')), /outcome\.success/],
      [encode(text.replace('"decisions":[{', '"decisions":[8')), /not JSON/],
      [swapped, /line \d|index the file again/],
    ] as const) {
      expect(changed.length).toBe(bytes.length);
      const library = await open(changed, index);
      await expect(library.readTask(0)).rejects.toThrow(message);
      await expect(library.readTask(0)).rejects.toThrow(InputError);
    }
    await expect(open(bytes.subarray(0, -1), index)).rejects.toThrow(/index it again/);
  });
});

describe("building an index", () => {
  const [first, second] = fixtureSources();
  const fault = (bytes: Uint8Array, kind?: "source" | "episode") =>
    buildIndex(bytes, { file: "f.jsonl", kind }).then(
      () => "",
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it("names file, line and key of a fault, in the readers' words", async () => {
    expect(await fault(lines([first!, { ...second, task: 3 }]))).toBe(
      "InputError: f.jsonl, line 2, task: expected string, received number",
    );
    expect(await fault(lines([first!, { ...second, outcome: { ...second!.outcome, verified: 1 } }]))).toMatch(
      /line 2, outcome\.verified: expected boolean/,
    );
    expect(await fault(lines([first!, second!, first!]))).toMatch(
      /f\.jsonl, line 3, source: source ".*" of task ".*" is already on line 1; ids must be unique/,
    );
    expect(await fault(encode(`${JSON.stringify(first)}\n{"format"\n`))).toMatch(/line 2: not JSON/);
    expect(await fault(encode(`${JSON.stringify(first)}\n\n${JSON.stringify(second)}\n`))).toMatch(
      /line 2: blank line/,
    );
    expect(await fault(encode(`\ufeff${JSON.stringify(first)}\n`))).toMatch(/byte-order mark/);
    expect(await fault(Uint8Array.of(0xff, 0x0a))).toMatch(/line 1: not valid UTF-8/);
    expect(await fault(lines([{ id: "x", prompt_ids: [1], response_ids: [] }]))).toMatch(
      /line 1, format: a score-input record; expected a source or an episode/,
    );
    expect(await fault(lines([episodes[0]!]), "source")).toMatch(
      /line 1, format: this is a record of kind episode; expected "gcopd\.source\.v1"/,
    );
  });

  it("takes an empty file and blank lines at its end", async () => {
    expect(await buildIndex(new Uint8Array(0), { file: "f" })).toEqual({ bytes: 0, tasks: [] });
    const index = await buildIndex(encode(`${JSON.stringify(first)}\n\n \n`), { file: "f" });
    expect(index.tasks).toHaveLength(1);
  });
});
