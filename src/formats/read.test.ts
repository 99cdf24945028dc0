import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import fc from "../../test/support/property.ts";
import { InputError } from "../core/errors.ts";
import { indexTasks, taskKey } from "../core/record/library.ts";
import { type ByteSource, byteChunks } from "./bytes.ts";
import { readAnyRecords, readObjects, readRecords } from "./read.ts";
import { readEpisodes, readLibrary, readRetrievals } from "./read-files.ts";
import { writeRecords } from "./write.ts";

const FIXTURES = new URL("../../test/fixtures/scienceworld/", import.meta.url);
const encoder = new TextEncoder();

const STATE = { key: "k", mode: "normal", options: {} };
const DECISION = {
  observation: "o",
  state: STATE,
  action: "a",
  binding: null,
  status: "executed",
  feedback: "f",
  score: 1,
  gap_before: false,
};
const COMMON = {
  environment: "scienceworld",
  task: "boil|1|easy",
  task_description: "d",
  initial_observation: "o",
  final_state: null,
  outcome: { complete: true, success: true, score: 100, ended: "environment", verified: true },
};
const SOURCE = {
  format: "gcopd.source.v1",
  ...COMMON,
  source: "teacher:0",
  repetition: 0,
  origin: { kind: "teacher" },
  decisions: [{ ...DECISION, attempts: [] }],
};
const EPISODE = { format: "gcopd.episode.v1", ...COMMON, episode: "e-1", decisions: [DECISION] };
const RETRIEVAL = {
  format: "gcopd.retrieval.v1",
  environment: "scienceworld",
  task: "t",
  episode: "e-1",
  decision: 0,
  case: "matched_success",
  matched_visits: 1,
  candidates: [],
  winner: null,
  success: null,
  failure: null,
};

function lines(...records: unknown[]): Uint8Array {
  return encoder.encode(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await collect(chunks));
}

/** The message of the InputError that reading must end in. */
async function failure(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  const { message } = error as InputError;
  expect(message).not.toContain("\n");
  return message;
}

const sources = (bytes: ByteSource) => collect(readRecords(bytes, { file: "s.jsonl", kind: "source" }));
const episodes = (bytes: ByteSource) => collect(readRecords(bytes, { file: "e.jsonl", kind: "episode" }));

describe("the recorded library", () => {
  test("sources, episodes and retrieval records are read whole", async () => {
    const read = (name: string) => readFileSync(new URL(name, FIXTURES));
    const library = await readLibrary(read("sources.jsonl.gz"), { file: "sources" });
    expect(library.tasks).toHaveLength(11);
    expect(library.tasks.flatMap((task) => task.sources)).toHaveLength(195);
    const melt = indexTasks(library).get(taskKey("scienceworld", "melt|12|easy"))!;
    expect(melt.sources).toHaveLength(18);
    expect(melt.sources.every((source) => source.task === "melt|12|easy")).toBe(true);
    expect(await readEpisodes(read("episodes.jsonl.gz"), { file: "episodes" })).toHaveLength(73);
    expect(await readRetrievals(read("retrieval-expected.jsonl.gz"), { file: "r" })).toHaveLength(1699);
  });

  test("read, written and read again, every line is the same text", async () => {
    for (const name of ["sources.jsonl.gz", "episodes.jsonl.gz", "retrieval-expected.jsonl.gz"]) {
      const bytes = readFileSync(new URL(name, FIXTURES));
      const first = await collect(readAnyRecords(bytes, { file: name }));
      const written = await bytesOf(
        writeRecords(
          first.map(({ record }) => record),
          { gzip: true },
        ),
      );
      expect(gunzipSync(written).toString()).toBe(
        gunzipSync(bytes)
          .toString()
          .trimEnd()
          .split("\n")
          .map((line) => `${JSON.stringify(JSON.parse(line))}\n`)
          .join(""),
      );
    }
  });
});

describe("bytes and lines", () => {
  test("records do not depend on how the bytes are cut, compressed or delivered", async () => {
    const records = [SOURCE, { ...SOURCE, source: "naïve ☃ 😀" }, { ...SOURCE, source: "x".repeat(300_000) }];
    const expected = records.map((record, index) => [index + 1, record]);
    const plain = lines(...records);
    const variants: Uint8Array[] = [
      plain,
      plain.subarray(0, plain.length - 1),
      encoder.encode(`${new TextDecoder().decode(plain)}\n \n`),
      encoder.encode(new TextDecoder().decode(plain).replaceAll("\n", "\r\n")),
      gzipSync(plain),
      Buffer.concat([gzipSync(plain.subarray(0, 500)), gzipSync(plain.subarray(500))]),
      Buffer.concat([gzipSync(plain), new Uint8Array(512)]),
    ];
    for (const bytes of variants) {
      for (const size of [1, 7, 4096, bytes.length]) {
        if (size < 4096 && bytes.length > 100_000) continue;
        const cut = function* () {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        };
        const stream = new ReadableStream<Uint8Array>({
          start(controller) {
            for (const chunk of cut()) controller.enqueue(chunk);
            controller.close();
          },
        });
        for (const source of [cut(), stream]) {
          expect((await sources(source)).map(({ line, record }) => [line, record])).toEqual(expected);
        }
      }
    }
  });

  test("gzip members may be cut at any byte", async () => {
    const bytes = Buffer.concat([gzipSync(lines(SOURCE)), gzipSync(lines({ ...SOURCE, source: "b" }))]);
    for (let at = 1; at < bytes.length; at++) {
      expect(await sources([bytes.subarray(0, at), bytes.subarray(at)])).toHaveLength(2);
    }
  });

  test("offsets find each line again", async () => {
    const bytes = lines(SOURCE, { ...SOURCE, source: "☃" }, { ...SOURCE, source: "c" });
    for (const line of await sources([bytes.subarray(0, 700), bytes.subarray(700)])) {
      const slice = bytes.subarray(line.offset, line.offset + line.bytes);
      expect(JSON.parse(new TextDecoder().decode(slice))).toEqual(line.record);
    }
  });

  test("nothing at all holds no records", async () => {
    expect(await sources(new Uint8Array(0))).toEqual([]);
  });

  test("a source that is left early is released", async () => {
    let cancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(lines(SOURCE)),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of readRecords(stream, { file: "s", kind: "source" })) break;
    expect(cancelled).toBe(true);
    for await (const chunk of byteChunks(new Uint8Array(3))) expect(chunk).toHaveLength(3);
  });

  test("reading stops when asked", async () => {
    const controller = new AbortController();
    controller.abort();
    await expect(
      collect(readObjects(lines(SOURCE), { file: "s", signal: controller.signal })),
    ).rejects.toThrow("aborted");
  });
});

describe("damaged files", () => {
  const packed = gzipSync(lines(SOURCE, { ...SOURCE, source: "b" }));

  test("truncated gzip, wherever it is cut", async () => {
    for (let size = 2; size < packed.length; size++) {
      expect(await failure(sources(packed.subarray(0, size)))).toBe(
        "s.jsonl: truncated gzip: the file ends before its compressed data does",
      );
    }
  });

  test("a gzip whose bytes were changed", async () => {
    const damaged = Uint8Array.from(packed);
    damaged[packed.length - 6]! ^= 1;
    expect(await failure(sources(damaged))).toBe("s.jsonl: damaged gzip: incorrect data check");
    expect(await failure(sources(Buffer.concat([packed, encoder.encode("more")])))).toContain("damaged gzip");
  });

  test.each<[string, Uint8Array | string, string]>([
    ["not JSON", `${JSON.stringify(SOURCE)}\n{"format": oops}\n`, "s.jsonl, line 2: not JSON: "],
    ["half a line", JSON.stringify(SOURCE).slice(0, 100), "s.jsonl, line 1: not JSON: "],
    ["NaN", `{"format":"gcopd.source.v1","score":NaN}`, "s.jsonl, line 1: not JSON: "],
    ["no object", "[1]\n", "s.jsonl, line 1: expected a JSON object, received array"],
    ["null", "null\n", "s.jsonl, line 1: expected a JSON object, received null"],
    [
      "a byte-order mark",
      `\ufeff${JSON.stringify(SOURCE)}`,
      "s.jsonl, line 1: begins with a byte-order mark",
    ],
    ["not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), "s.jsonl, line 1: not valid UTF-8"],
    [
      "a blank line between records",
      `${JSON.stringify(SOURCE)}\n\n${JSON.stringify(SOURCE)}`,
      "s.jsonl, line 2: blank line between records",
    ],
  ])("%s", async (_name, content, message) => {
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    expect(await failure(sources(bytes))).toContain(message);
  });
});

describe("wrong records", () => {
  const without = (record: object, key: string) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));

  test.each<[string, unknown, string]>([
    ["a missing key", without(SOURCE, "task"), "task: missing; expected string"],
    ["a wrong type", { ...SOURCE, task: 3 }, "task: expected string, received number"],
    [
      "a wrong type deep inside",
      {
        ...SOURCE,
        decisions: [SOURCE.decisions[0], { ...SOURCE.decisions[0], state: { ...STATE, key: 7 } }],
      },
      "decisions[1].state.key: expected string, received number",
    ],
    [
      "a fraction for an integer",
      { ...SOURCE, repetition: 1.5 },
      "repetition: expected integer, received 1.5",
    ],
    [
      "another status",
      { ...SOURCE, decisions: [{ ...SOURCE.decisions[0], status: "done" }] },
      'decisions[0].status: expected "executed" or "binding" or "rejected" or "malformed" or "rolled_back", received "done"',
    ],
    [
      "options that are not text",
      { ...SOURCE, final_state: { ...STATE, options: { "0": 1 } } },
      'final_state.options["0"]: expected string, received number',
    ],
    [
      "T states for T decisions",
      without(SOURCE, "final_state"),
      "final_state: missing; 1 decisions have 1 states and need 2: one before each decision and the terminal one",
    ],
    [
      "a decision without a state",
      { ...SOURCE, decisions: [without(SOURCE.decisions[0]!, "state")] },
      "decisions[0].state: missing; expected object",
    ],
    ["no format", without(SOURCE, "format"), 'format: missing; expected "gcopd.source.v1"'],
    [
      "an unknown format",
      { ...SOURCE, format: "x" },
      'format: unknown value "x"; expected "gcopd.source.v1"',
    ],
    ["another kind", EPISODE, 'format: this is a record of kind episode; expected "gcopd.source.v1"'],
    [
      "decisions that are not an array",
      { ...SOURCE, decisions: {} },
      "decisions: expected array, received object",
    ],
  ])("%s", async (_name, record, message) => {
    expect(await failure(sources(lines({ ...SOURCE, source: "first" }, record)))).toBe(
      `s.jsonl, line 2, ${message}${message.endsWith("terminal one") ? " (null if the capture is unreliable)" : ""}`,
    );
  });

  test("duplicate sources name both lines; the same id in another task is another source", async () => {
    const other = { ...SOURCE, task: "melt|1|easy" };
    const elsewhere = { ...SOURCE, environment: "webshop" };
    expect(await sources(lines(SOURCE, other, elsewhere))).toHaveLength(3);
    expect(await failure(sources(lines(SOURCE, other, SOURCE)))).toBe(
      's.jsonl, line 3, source: source "teacher:0" of task "boil|1|easy" is already on line 1; ids must be unique',
    );
  });

  test("duplicate episodes name both lines", async () => {
    expect(await failure(episodes(lines(EPISODE, { ...EPISODE, task: "other" })))).toBe(
      'e.jsonl, line 2, episode: episode "e-1" is already on line 1; ids must be unique',
    );
  });

  test("log-probabilities must be one for each response token", async () => {
    const decision = { ...DECISION, response_ids: [1, 2, 3], rollout_logprobs: [-0.1, -0.2] };
    expect(await failure(episodes(lines({ ...EPISODE, decisions: [DECISION, decision] })))).toBe(
      "e.jsonl, line 1, decisions[1].rollout_logprobs: 2 values for 3 response_ids; expected one for each response token",
    );
    const step = {
      episode: "e",
      prompt_ids: [1],
      response_ids: [1],
      teacher_logprobs: [],
      rollout_logprobs: [0],
    };
    expect(await failure(collect(readRecords(lines(step), { file: "b", kind: "step-input" })))).toBe(
      "b, line 1, teacher_logprobs: 0 values for 1 response_ids; expected one for each response token",
    );
  });

  test("probabilities are not log-probabilities, and a rounded 0 is one", async () => {
    const step = (teacher: number) => ({
      ...{ episode: "e", prompt_ids: [1], response_ids: [1, 2] },
      ...{ teacher_logprobs: [-1, teacher], rollout_logprobs: [0, -2] },
    });
    const read = (teacher: number) =>
      collect(readRecords(lines(step(teacher)), { file: "b", kind: "step-input" }));
    expect(await failure(read(0.83))).toBe(
      "b, line 1, teacher_logprobs[1]: expected a log-probability, which is at most 0, received 0.83",
    );
    expect(await read(1e-5)).toHaveLength(1);
  });

  test("a winner is described by the alternative that was meant", async () => {
    const read = (record: unknown) => collect(readRecords(lines(record), { file: "r", kind: "retrieval" }));
    expect(
      await failure(read({ ...RETRIEVAL, winner: { kind: "source", source: "s", position: "1", cost: 2 } })),
    ).toBe("r, line 1, winner.position: expected number, received string");
    expect(await failure(read({ ...RETRIEVAL, winner: { kind: "student" } }))).toBe(
      "r, line 1, winner.cost: missing; expected number",
    );
    expect(await failure(read({ ...RETRIEVAL, winner: 3 }))).toContain("r, line 1, winner: expected object");
  });
});

test("kinds are told apart line by line", async () => {
  const score = { id: "a", prompt_ids: [1], response_ids: [] };
  const records = [SOURCE, EPISODE, RETRIEVAL, score, { id: "a", logprobs: [] }];
  const read = await collect(readAnyRecords(lines(...records), { file: "x" }));
  expect(read.map(({ kind }) => kind)).toEqual([
    "source",
    "episode",
    "retrieval",
    "score-input",
    "score-output",
  ]);
  expect(await failure(collect(readAnyRecords(lines({ a: 1 }), { file: "x" })))).toBe(
    "x, line 1, format: missing, and the keys are not those of a scoring or step record, or of optimal actions",
  );
  expect(await failure(collect(readAnyRecords(lines({ format: 1 }), { file: "x" })))).toContain(
    'x, line 1, format: unknown value 1; expected "gcopd.source.v1"',
  );
});

describe("writing", () => {
  const free = fc.dictionary(
    fc.string({ minLength: 1 }).filter((key) => !(key in SOURCE) && key !== "__proto__"),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 3 },
  );
  const text = fc.string({ unit: "binary" });
  const state = fc.option(
    fc.record({
      key: text,
      mode: fc.constantFrom("normal", "pending_menu"),
      options: fc.dictionary(
        text.filter((key) => key !== "__proto__"),
        text,
        { maxKeys: 3 },
      ),
    }),
  );
  const decision = fc
    .record({
      observation: text,
      state,
      action: fc.option(text),
      binding: fc.option(text),
      status: fc.constantFrom("executed", "rejected", "malformed"),
      feedback: text,
      score: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }).map((score) => score + 0)),
      gap_before: fc.boolean(),
      attempts: fc.constant([]),
    })
    .chain((known) => free.map((extra) => ({ ...extra, ...known })));
  const source = fc
    .record({ decisions: fc.array(decision, { maxLength: 4 }), final_state: state, task: text })
    .chain((known) => free.map((extra) => ({ ...SOURCE, ...extra, ...known })));

  test("whatever is written is read again, unknown keys and all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(source, { maxLength: 4 }), fc.boolean(), async (records, gzip) => {
        const numbered = records.map((record, index) => ({ ...record, source: `s:${index}` }));
        const read = await sources(await bytesOf(writeRecords(numbered, { gzip })));
        const plain = JSON.parse(JSON.stringify(numbered)) as unknown;
        expect(read.map(({ record }) => record)).toEqual(plain);
      }),
      { numRuns: 60 },
    );
  });

  test("a number that JSON cannot hold is refused", async () => {
    await expect(bytesOf(writeRecords([{ id: "a", logprobs: [-1, -Infinity] }]))).rejects.toThrow(
      "logprobs[1]: cannot be written as JSON: not a finite number",
    );
  });
});
