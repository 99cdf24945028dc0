import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { InputError } from "../../core/errors.ts";
import { taskGraph } from "../../core/graph/index.ts";
import { type RecordFile, RecordIndex } from "./record-index.ts";
import { taskModel } from "./task-model.ts";
import { taskSummary } from "./task-summary.ts";

const FIXTURE = new URL("../../../test/fixtures/scienceworld/", import.meta.url);

async function fixture(name: string): Promise<RecordFile> {
  const bytes = await readFile(new URL(name, FIXTURE));
  return { name, bytes: bytes.length, open: async () => new Blob([bytes]).stream() };
}

function file(name: string, ...lines: string[]): RecordFile {
  const text = lines.join("\n");
  return { name, bytes: text.length, open: async () => new Blob([text]).stream() };
}

const files = Promise.all([fixture("sources.jsonl.gz"), fixture("episodes.jsonl.gz")]);

describe("RecordIndex", () => {
  it("reads every record of the fixture back, task by task", async () => {
    const index = await RecordIndex.read(await files);
    expect(index.files.map(({ name, kind, records }) => [name, kind, records])).toEqual([
      ["sources.jsonl.gz", "sources", 195],
      ["episodes.jsonl.gz", "episodes", 73],
    ]);
    expect(index.tasks).toHaveLength(11);
    let decisions = 0;
    let matched = 0;
    for (const ref of index.tasks) {
      const { sources, episodes } = await index.task(ref);
      const summary = taskSummary(taskGraph(sources), ref, episodes);
      expect(summary.successes + summary.failures).toBe(sources.length);
      decisions += summary.decisions;
      matched += summary.matchedDecisions;
    }
    // The counts of the fixture's README.
    expect([decisions, matched]).toEqual([1699, 763]);
  });

  it("names both places of a duplicate", async () => {
    const [sources] = await files;
    await expect(RecordIndex.read([sources!, { ...sources!, name: "again.jsonl.gz" }])).rejects.toThrow(
      "again.jsonl.gz, line 1: source teacher:0 was already in sources.jsonl.gz, line 1",
    );
  });

  it.each([
    [[file("empty.jsonl", "")], "empty.jsonl: no record in it"],
    [[file("a.jsonl", "{")], "a.jsonl, line 1: not JSON"],
    [
      [file("s.jsonl", '{"id":"1","prompt_ids":[1],"response_ids":[2]}')],
      "s.jsonl, line 1: a score-input record",
    ],
  ])("refuses %#", async (bad, message) => {
    const reading = RecordIndex.read(bad);
    await expect(reading).rejects.toThrow(InputError);
    await expect(reading).rejects.toThrow(message);
  });
});

describe("taskModel", () => {
  it("gives each visit of each execution a cell and each located one its state", async () => {
    const index = await RecordIndex.read(await files);
    for (const ref of index.tasks) {
      const { sources, episodes } = await index.task(ref);
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
