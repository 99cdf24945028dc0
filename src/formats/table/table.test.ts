import { describe, expect, it } from "vitest";
import fc from "../../../test/support/property.ts";
import { InputError } from "../../core/errors.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { memoryFiles } from "../import/files.ts";
import { runImport } from "../import/run-import.ts";
import { COLUMNS, type TableRow } from "./columns.ts";
import { csvOf } from "./csv-text.ts";
import { parquetOf } from "./parquet-bytes.ts";
import { rowsOf } from "./to-rows.ts";

type Execution = Source | Episode;

async function* rows(records: Iterable<Execution>): AsyncGenerator<TableRow> {
  for (const record of records) yield* rowsOf(record);
}

async function collect(parts: AsyncIterable<string | Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(typeof part === "string" ? new TextEncoder().encode(part) : part);
  return new Uint8Array(Buffer.concat(all));
}

async function back(name: string, bytes: Uint8Array | string): Promise<unknown[]> {
  const { records } = await runImport(memoryFiles({ [name]: bytes }));
  const all: unknown[] = [];
  for await (const { record } of records) all.push(record);
  return all;
}

/** Texts as recordings hold them, and what breaks tables. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    " ",
    "a,b",
    'say "x"',
    "two\nlines",
    "\r\n",
    "\r",
    "=1+1",
    "'=1+1",
    "''-x",
    "@a",
    "- a list",
    "\t=",
    "'quoted'",
    "\ufeff",
    "\0",
    "\ud800",
    "null",
    "true",
    "1e5",
  ),
);
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const unknown = fc.dictionary(
  fc.constantFrom("x", "rest", "descriptor", "__proto__", "constructor", "", "a.b"),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 2 },
);
const state = fc.option(
  fc
    .tuple(fc.record({ key: text, mode: text, options: fc.dictionary(text, text, { maxKeys: 2 }) }), unknown)
    .map(([own, more]) => ({ ...more, ...own })),
);
const decision = fc.record({
  observation: text,
  state,
  action: fc.option(text),
  binding: fc.option(text),
  status: fc.constantFrom("executed", "binding", "rejected", "malformed", "rolled_back"),
  feedback: text,
  score: fc.option(number),
  gap_before: fc.boolean(),
});
const outcome = fc
  .tuple(
    fc.record({
      complete: fc.boolean(),
      success: fc.boolean(),
      score: fc.option(number),
      ended: fc.constantFrom("environment", "horizon", "technical"),
      verified: fc.boolean(),
    }),
    fc.option(fc.boolean(), { nil: undefined }),
  )
  .map(([own, claim]) => (claim === undefined ? own : { ...own, reported_success: claim }));
const execution = {
  environment: text,
  task: text,
  task_description: text,
  initial_observation: text,
  final_state: state,
  outcome,
};
const ids = fc.array(fc.nat(), { maxLength: 3 });

const source = fc
  .tuple(
    fc.record({
      format: fc.constant("gcopd.source.v1"),
      ...execution,
      source: text,
      repetition: fc.maxSafeInteger(),
      origin: fc
        .tuple(unknown, fc.constantFrom("teacher", "planner", "other"))
        .map(([more, kind]) => ({ ...more, kind })),
      decisions: fc.array(
        fc
          .tuple(
            decision,
            unknown,
            fc.array(
              fc.record({
                action: fc.option(text),
                reason: fc.constantFrom("format", "rejected"),
                feedback: text,
              }),
              {
                maxLength: 2,
              },
            ),
          )
          .map(([own, more, attempts]) => ({ ...more, ...own, attempts })),
        { maxLength: 4 },
      ),
    }),
    unknown,
  )
  .map(([own, more]) => ({ ...more, ...own }));

const episode = fc
  .record({
    format: fc.constant("gcopd.episode.v1"),
    ...execution,
    episode: text,
    decisions: fc.array(
      fc
        .tuple(
          decision,
          fc.record(
            { prompt: text, prompt_ids: ids, response: text, response_ids: ids },
            { requiredKeys: [] },
          ),
        )
        .map(([own, more]) => ({ ...own, ...more })),
      { maxLength: 4 },
    ),
  })
  .map((record) => record);

/** As JSON holds it: what comes back is compared with what a file could have held. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const records = fc.array(fc.oneof(source, episode), { minLength: 1, maxLength: 4 }).map(
  (all) =>
    all.map((record, n) =>
      asJson({
        ...record,
        ...("source" in record ? { source: `${record.source}${n}` } : { episode: `${record.episode}${n}` }),
      }),
    ) as Execution[],
);

describe("round trips lose nothing", () => {
  it("CSV", async () => {
    await fc.assert(
      fc.asyncProperty(records, async (all) => {
        expect(await back("a.csv", await collect(csvOf(rows(all))))).toEqual(all);
      }),
      { numRuns: 60 },
    );
  });

  it("Parquet", async () => {
    await fc.assert(
      fc.asyncProperty(records, async (all) => {
        expect(await back("a.parquet", await collect(parquetOf(rows(all))))).toEqual(all);
      }),
      { numRuns: 60 },
    );
  });

  it("Parquet in many row groups", async () => {
    const [record] = fc.sample(source, { numRuns: 1, seed: 3 });
    const one = asJson(record) as Source;
    const many = Array.from({ length: 9000 }, (_, n): Source => ({ ...one, source: `s${n}` }));
    expect(await back("a.parquet", await collect(parquetOf(rows(many))))).toEqual(many);
  });
});

describe("reading tables", () => {
  const header = COLUMNS.map(({ name }) => name);
  const line = (cells: TableRow) => header.map((name) => String(cells[name] ?? "")).join(",");
  const decisionRow = { format: "gcopd.source.v1", environment: "e", task: "t", source: "s", repetition: 0 };
  const csv = (...cells: TableRow[]) => [header.join(","), ...cells.map(line), ""].join("\n");

  it("takes columns in any order, CRLF, and columns of others", async () => {
    const terminal: TableRow = {
      ...decisionRow,
      ...{
        position: 0,
        terminal: true,
        origin_kind: "human",
        complete: "TRUE",
        success: false,
        ended: "technical",
        verified: false,
      },
    };
    const names = [...header].reverse();
    const text = [
      ["mine", ...names].join(","),
      ["1", ...names.map((name) => String(terminal[name] ?? ""))].join(","),
      "",
    ].join("\r\n");
    expect(await back("a.csv", text)).toMatchObject([
      { source: "s", origin: { kind: "human" }, decisions: [] },
    ]);
  });

  it.each([
    [csv({ ...decisionRow, position: 0, terminal: false }), /^a\.csv: ends within the record of task "t"/],
    [
      csv({ ...decisionRow, position: 1, terminal: false }),
      /^a\.csv, line 2, position: expected 0, received 1$/,
    ],
    [
      csv({ ...decisionRow, position: 0, terminal: "maybe" }),
      /^a\.csv, line 2, terminal: expected true or false/,
    ],
    [csv({ ...decisionRow, position: 0, terminal: true }), /^a\.csv, line 2, outcome\.complete: missing/],
    [
      csv({ ...decisionRow, position: 0, terminal: false, rest: "[1]" }),
      /^a\.csv, line 2, rest: expected a JSON object, received array$/,
    ],
    [`${header.join(",")}\n1,2\n`, /^a\.csv, line 2: expected 35 cells, received 2$/],
    [`${csv()}"gcopd`, /^a\.csv, line 2: not CSV: /],
  ])("refuses what is not whole", async (text, message) => {
    const reading = back("a.csv", text);
    await expect(reading).rejects.toThrow(InputError);
    await expect(reading).rejects.toThrow(message);
  });
});
