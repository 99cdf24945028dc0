import { readFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import { InputError } from "../../../core/errors.ts";
import { taskGraph } from "../../../core/graph/index.ts";
import { indexFileName } from "../../../formats/indexed/index.ts";
import { synthEpisodes, synthSources } from "../../../formats/synth/index.ts";
import { writeRecords } from "../../../formats/write.ts";
import { indexBlob, openRecordFile, type RecordInput } from "../files/internal/record-file.ts";
import { ColumnCounter, countTask, emptyColumns, withBatch } from "../library/task-columns.ts";
import type { ColumnBatch } from "../model.ts";
import { RecordLibrary } from "./record-library.ts";
import { taskModel } from "./task-model.ts";

const FIXTURE = new URL("../../../../test/fixtures/scienceworld/", import.meta.url);

async function fixture(name: string): Promise<RecordInput> {
  return { kind: "blob", name, blob: new Blob([await readFile(new URL(name, FIXTURE))]) };
}

function lines(name: string, ...texts: string[]): RecordInput {
  return { kind: "blob", name, blob: new Blob([texts.join("\n")]) };
}

const open = async (inputs: readonly RecordInput[]): Promise<RecordLibrary> =>
  new RecordLibrary(await Promise.all(inputs.map((input) => openRecordFile(input))));

const files = Promise.all([fixture("sources.jsonl.gz"), fixture("episodes.jsonl.gz")]);

async function synthetic(): Promise<Blob> {
  const options = { tasks: 4, sources: 3, episodes: 4, seed: 1 };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of writeRecords([...synthSources(options), ...synthEpisodes(options)]))
    parts.push(chunk);
  return new Blob(parts);
}

describe("RecordLibrary", () => {
  it("reads every record of the fixture back, task by task", async () => {
    const library = await open(await files);
    expect(library.fileSummaries.map(({ name, kind, records }) => [name, kind, records])).toEqual([
      ["sources.jsonl.gz", "sources", 195],
      ["episodes.jsonl.gz", "episodes", 73],
    ]);
    expect(library.tasks).toHaveLength(11);
    let decisions = 0;
    let matched = 0;
    let fallbacks = 0;
    for (const row of library.tasks) {
      const { sources, episodes } = await library.read(row.place);
      expect([row.sources, row.successes + row.failures]).toEqual([sources.length, sources.length]);
      expect(row.admitted).toBe(sources.length);
      expect(row.episodes).toBe(episodes.length);
      expect(library.find(row)).toBe(row.place);
      decisions += row.decisions;
      const counts = countTask({ environment: row.environment, sources, episodes });
      matched += counts.matched;
      fallbacks += counts.fallback;
    }
    // The counts of the fixture's README.
    expect([decisions, matched]).toEqual([1699, 763]);
    // retrieval-expected.jsonl.gz has 156 successful references that are unaligned and 121 unverified ones.
    expect(fallbacks).toBe(156 + 121);
  });

  it("names both places of a duplicate", async () => {
    const [sources] = await files;
    await expect(open([sources!, { ...sources!, name: "again.jsonl.gz" } as RecordInput])).rejects.toThrow(
      "again.jsonl.gz, line 1: source teacher:0 was already in sources.jsonl.gz, line 1",
    );
  });

  it.each([
    [[lines("empty.jsonl", "")], "empty.jsonl: no record in it"],
    [[lines("a.jsonl", "{")], "a.jsonl, line 1: not JSON"],
    [
      [lines("s.jsonl", '{"id":"1","prompt_ids":[1],"response_ids":[2]}')],
      "s.jsonl, line 1, format: a score-input record",
    ],
  ])("refuses %#", async (bad, message) => {
    const reading = open(bad);
    await expect(reading).rejects.toThrow(InputError);
    await expect(reading).rejects.toThrow(message);
  });

  it("counts executions that ALFWorld does not admit apart", async () => {
    const catalog = new URL("../../../../test/fixtures/imports/alfworld-sources/", import.meta.url);
    const blob = new Blob([await readFile(new URL("expected-sources.jsonl.gz", catalog))]);
    const library = await open([{ kind: "blob", name: "raw.jsonl.gz", blob }]);
    expect(library.tasks.map(({ sources, admitted }) => [sources, admitted])).toEqual([[2, 0]]);
  });

  it("counts what nobody recorded the outcome of beside successes and failures", async () => {
    const [first] = synthSources({ tasks: 1, sources: 1, episodes: 0, seed: 1 });
    const record = (source: string, success: boolean, more: object = {}) =>
      JSON.stringify({ ...first!, source, outcome: { ...first!.outcome, success }, ...more });
    const unknown = { outcome_unknown: true };
    const written = [
      record("teacher:1", true),
      record("teacher:2", false),
      record("teacher:3", false, unknown),
      // Whoever says that it succeeded knows its outcome.
      record("teacher:4", true, unknown),
    ];
    const built = await openRecordFile(lines("some.jsonl", ...written));
    const sidecar = await indexBlob(built);
    const kept = await openRecordFile({ ...lines("some.jsonl", ...written), sidecar } as RecordInput);
    expect([built.indexed, kept.indexed]).toEqual(["built", "kept"]);
    for (const file of [built, kept]) {
      const library = new RecordLibrary([file]);
      expect(library.tasks).toMatchObject([{ sources: 4, successes: 2, failures: 1, unknown: 1 }]);
      expect((await library.read(0)).sources).toHaveLength(4);
    }
  });
});

describe("the index beside a file", () => {
  it("is taken when it fits, and rebuilt with a note when it does not", async () => {
    const blob = await synthetic();
    const built = await openRecordFile({ kind: "blob", name: "all.jsonl", blob });
    expect([built.indexed, built.original, built.notes]).toEqual(["built", true, []]);
    const sidecar = await indexBlob(built);
    const kept = await openRecordFile({ kind: "blob", name: "all.jsonl", blob, sidecar });
    expect([kept.indexed, kept.notes]).toEqual(["kept", []]);
    expect(kept.index).toEqual(built.index);

    const other = new Blob([(await blob.text()).replace("scienceworld", "scienceWorld")]);
    const stale = await openRecordFile({ kind: "blob", name: "all.jsonl", blob: other, sidecar });
    expect(stale.indexed).toBe("built");
    expect(stale.notes).toEqual([`${indexFileName("all.jsonl")} is out of date: the index was rebuilt.`]);
    const damaged = await openRecordFile({
      kind: "blob",
      name: "all.jsonl",
      blob,
      sidecar: sidecar.slice(0, sidecar.size - 9),
    });
    expect(damaged.notes[0]).toContain("is damaged");
  });
});

describe("ColumnCounter", () => {
  it("counts what is in sight first, then all when asked, and tells what cannot be read", async () => {
    const library = await open(await files);
    let columns = emptyColumns(library.tasks.length);
    const batches: ColumnBatch[] = [];
    const counter = new ColumnCounter(library, (batch) => {
      batches.push(batch);
      columns = withBatch(columns, batch);
    });
    counter.want([7, 3]);
    await expect.poll(() => columns.counted).toBe(2);
    // One batch or several: they are sent by the time that counting takes.
    expect(batches.flatMap(({ places }) => [...places])).toEqual([7, 3]);
    counter.wantAll();
    await expect.poll(() => columns.counted).toBe(library.tasks.length);
    for (const { place } of library.tasks) {
      const { states, sharedStates, matched } = countTask(await library.read(place));
      expect([columns.states[place], columns.sharedStates[place], columns.matched[place]]).toEqual([
        states,
        sharedStates,
        matched,
      ]);
    }
    expect(columns.problem).toBeNull();

    const text = (await (await synthetic()).text()).replace('"status":"executed"', '"status":"oxecuted"');
    const bad = await open([lines("bad.jsonl", text)]);
    let counted = emptyColumns(bad.tasks.length);
    const second = new ColumnCounter(bad, (batch) => {
      counted = withBatch(counted, batch);
    });
    second.wantAll();
    await expect.poll(() => counted.counted).toBe(bad.tasks.length);
    expect(counted.states[0]).toBe(-2);
    expect(counted.states[1]).toBeGreaterThan(0);
    expect(counted.problem).toContain("bad.jsonl, line 1, decisions[0].status");
  });

  it("breaks off while the server is away, and counts the same tasks when they are asked for again", async () => {
    const library = await open(await files);
    let columns = emptyColumns(library.tasks.length);
    const counter = new ColumnCounter(library, (batch) => {
      columns = withBatch(columns, batch);
    });
    const away = "sources.jsonl.gz: the worker does not answer: is it still running?";
    const read = vi
      .spyOn(library, "read")
      .mockRejectedValue(
        new InputError("the worker does not answer: is it still running?", { file: "sources.jsonl.gz" }),
      );
    counter.want([7, 3]);
    counter.wantAll();
    await expect.poll(() => columns.brokeOff).toBe(away);
    expect(read).toHaveBeenCalledTimes(1);
    expect([columns.counted, columns.states[7], columns.problem]).toEqual([0, -1, null]);

    read.mockRestore();
    counter.want([7, 3]);
    await expect.poll(() => columns.counted).toBe(library.tasks.length);
    expect([columns.brokeOff, columns.problem]).toEqual([null, null]);
    expect(Math.min(...columns.states)).toBeGreaterThan(0);
  });
});

describe("taskModel", () => {
  it("gives each visit of each execution a cell and each located one its state", async () => {
    const library = await open(await files);
    for (const ref of library.tasks) {
      const { sources, episodes } = await library.read(ref.place);
      const graph = taskGraph(sources);
      const model = taskModel(graph, ref, episodes);
      const visits = model.states.map(() => 0);
      model.sources.forEach((row, r) => {
        expect(row.cells).toHaveLength(sources[r]!.decisions.length + 1);
        for (const cell of row.cells) {
          expect(cell.state !== null).toBe(cell.located);
          if (cell.state !== null) visits[cell.state]! += 1;
        }
      });
      expect(visits).toEqual(model.states.map((state) => state.visits));
      const named = model.states.filter((state) => state.letter !== "");
      expect(new Set(named.map((state) => state.letter)).size).toBe(named.length);
      expect(named).toHaveLength(model.states.filter((state) => state.executions > 1).length);
      for (const layout of [model.layouts.step, model.layouts.cost]) {
        const places = layout.column.map((column, i) => `${column} ${layout.row[i]}`);
        expect(new Set(places).size, "no two states in one place").toBe(places.length);
        for (const row of layout.row) expect(row >= 0 && row <= layout.rows - 1).toBe(true);
      }
    }
  });
});
