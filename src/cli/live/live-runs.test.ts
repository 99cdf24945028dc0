import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { liveGame, rows } from "../../../test/support/alfworld-games.ts";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { InputError } from "../../core/errors.ts";
import { collectConfigSchema, evaluateConfigSchema } from "../../core/loop/index.ts";
import type { Sampler } from "../../core/ports.ts";
import { type Source, sourceSchema } from "../../core/record/schema.ts";
import { isTrustedSuccess } from "../../core/record/standing.ts";
import { lockFolder } from "../../node/lock.ts";
import { collect } from "./collect.ts";
import { evaluate } from "./evaluate.ts";
import { comparisonText } from "./figures-text.ts";
import type { PlayRunOptions } from "./play-run.ts";

/** What another process does in a folder just before this one locks it. */
const other = vi.hoisted(() => ({ acts: (_lock: string) => {} }));
vi.mock("../../node/lock.ts", async (original) => {
  const { lockFolder } = await original<typeof import("../../node/lock.ts")>();
  return {
    lockFolder(file: string, busy: InputError) {
      const { acts } = other;
      other.acts = () => {};
      acts(file);
      return lockFolder(file, busy);
    },
  };
});

const TASKS = ["look_at_obj_in_light-19/game.tw-pddl", "pick_and_place_simple-30/game.tw-pddl"];
const fixture = (path: string) => resolve(import.meta.dirname, "../../../test/fixtures", path);
const MODEL = fixture("models/tiny-a");

const folder = mkdtempSync(join(tmpdir(), "gcopd-live-"));
const GAMES = join(folder, "games");
beforeAll(() => {
  for (const task of TASKS) {
    const name = `made_${dirname(task)}.tw-pddl`;
    const opening = rows<{ game: string; feedback: string }>("live/alfworld/traces.jsonl.gz").find(
      ({ game }) => game === name,
    );
    const { walkthrough } = JSON.parse(readFileSync(fixture(`live/alfworld/games/${name}`), "utf8"));
    mkdirSync(join(GAMES, dirname(task)), { recursive: true });
    writeFileSync(join(GAMES, task), JSON.stringify({ ...liveGame(name, opening!.feedback), walkthrough }));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const reply = (text: string) => {
  const responseIds = [...toyCodec.encode(text), 0];
  return { responseIds, logprobs: new Float32Array(responseIds.length).fill(-1), stop: "stop" } as const;
};

/** Takes one of the commands on offer, which one follows from the seed; every seventh reply is malformed. */
const seeded: Sampler = {
  sample: async (requests) =>
    requests.map(({ id, promptIds, seed }) => {
      const offered = /^Commands you can give now: (.*)$/m
        .exec(toyCodec.decode([...promptIds]))![1]!
        .split("; ");
      return { id, ...reply(seed % 7 === 0 ? "?" : `<action>${offered[seed % offered.length]}</action>`) };
    }),
};

/** As a device may be: what it draws depends on the batch, and on what it kept of the batches before. */
function unsteady(): Sampler {
  let kept = 0;
  return {
    sample: (requests) => {
      kept =
        (kept + requests.reduce((sum, { seed }) => (sum + seed) % 1_000_003, requests.length)) % 1_000_003;
      return seeded.sample(requests.map((request) => ({ ...request, seed: request.seed + kept })));
    },
    forget: () => {
      kept = 0;
    },
  };
}

const environment = { name: "alfworld", games: GAMES, tasks: TASKS, max_decisions: 5 } as const;
const collecting = collectConfigSchema.parse({ environment, model: MODEL, repetitions: 3, at_once: 4 });
const evaluating = evaluateConfigSchema.parse({ environment, model: MODEL, seeds: [0, 1], at_once: 3 });

function watchingWith(out: string, sampler: Sampler): Omit<PlayRunOptions, "config"> {
  return {
    out,
    onNote: () => undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    withPolicy: (work) => work(sampler, toyCodec),
  };
}

const watching = (out: string) => watchingWith(out, seeded);

/** Files of a folder with what they hold; the lock says nothing, and how long it took differs. */
function contents(out: string): Record<string, string> {
  const names = readdirSync(out).filter((name) => !name.startsWith("lock.") && name !== "seconds.jsonl");
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(out, name), "utf8")]));
}

/** Runs once, then again from folders as kills at some points of the progress file would leave them. */
async function survivesKills(
  name: string,
  run: (options: Omit<PlayRunOptions, "config">) => Promise<unknown>,
  { events, sampler = () => seeded }: { events: readonly string[]; sampler?: () => Sampler },
) {
  const watching = (into: string) => watchingWith(into, sampler());
  const out = join(folder, name);
  let whole = "";
  const progress = join(out, "progress.jsonl");
  await run({
    ...watching(out),
    onProgress: () => {
      if (existsSync(progress)) whole = readFileSync(progress, "utf8");
    },
  });
  expect(new Set(whole.match(/(?<=^{"type":")\w+/gm))).toEqual(new Set(events));
  const expected = contents(out);
  expect(whole.length).toBeGreaterThan(1_000);
  const cuts = [0, 0.05, 0.2, 0.45, 0.7, 0.95, 1].map((share) => Math.round(share * whole.length));
  for (const [n, cut] of cuts.entries()) {
    const killed = join(folder, `${name}-${n}`);
    mkdirSync(killed);
    cpSync(join(out, "run.json"), join(killed, "run.json"));
    writeFileSync(join(killed, "progress.jsonl"), whole.slice(0, cut));
    await run(watching(killed));
    expect(contents(killed), `cut at ${cut} of ${whole.length}`).toEqual(expected);
  }
  // Nothing is played again where all is there.
  await run({ ...watching(out), withPolicy: () => Promise.reject(new Error("played again")) });
  expect(contents(out)).toEqual(expected);
  return expected;
}

describe("gcopd collect", () => {
  it("writes verified executions and plans, the same after a kill at any point", async () => {
    const files = await survivesKills("collected", (options) => collect({ ...options, config: collecting }), {
      events: ["start", "decision", "end"],
    });
    expect(Object.keys(files)).toEqual(["run.json", "sources.jsonl"]);
    expect(JSON.parse(files["run.json"]!)).toMatchObject({ at_once: 4, device: "auto" });
    const sources = files["sources.jsonl"]!.trimEnd()
      .split("\n")
      .map((line): Source => sourceSchema.parse(JSON.parse(line)));
    expect(sources.map(({ task, source }) => [task, source])).toEqual(
      TASKS.flatMap((task) =>
        ["teacher:0", "teacher:1", "teacher:2", "planner:16"].map((source) => [task, source]),
      ),
    );
    for (const source of sources) {
      expect(source.outcome).toMatchObject({ complete: true, verified: true });
      expect(source.decisions[0]).not.toHaveProperty("prompt");
    }
    const statuses = new Set(sources.flatMap(({ decisions }) => decisions.map(({ status }) => status)));
    expect(statuses).toContain("malformed");
    for (const plan of sources.filter(({ origin }) => origin.kind === "planner")) {
      expect(isTrustedSuccess(plan)).toBe(true);
    }
    expect(sources[0]!.origin).toEqual({ kind: "teacher", model: "tiny-a" });
  });

  it("refuses a folder of another run, by what differs", async () => {
    const out = join(folder, "mine");
    await collect({ ...watching(out), config: collecting });
    const other = { ...collecting, repetitions: 2 };
    await expect(collect({ ...watching(out), config: other })).rejects.toThrow(
      "run.json: this folder is of another run: it differs in settings (repetitions was 3, is 2);",
    );
    const evaluation = { ...watching(out), config: evaluating };
    await expect(evaluate(evaluation)).rejects.toThrow(
      "it differs in purpose, records, settings (repetitions was 3, is absent; planner was true, is absent; seeds was absent, is [0,1]);",
    );
  });

  it("leaves a folder that it made to another process that was faster", async () => {
    const out = join(folder, "faster", "out");
    const theirs = join(out, "sources.jsonl");
    const refused = () => collect({ ...watching(out), config: collecting });
    let unlock = () => {};
    other.acts = (lock) => {
      unlock = lockFolder(lock, new InputError("the test has it"));
      writeFileSync(theirs, "theirs");
    };
    await expect(refused()).rejects.toThrow("another run works in this folder");
    expect(readFileSync(theirs, "utf8")).toBe("theirs");
    unlock();
    rmSync(dirname(out), { recursive: true });
    other.acts = () => {
      writeFileSync(join(out, "run.json"), "{}");
      writeFileSync(theirs, "theirs");
    };
    await expect(refused()).rejects.toThrow("this folder is of another run");
    expect(readFileSync(theirs, "utf8")).toBe("theirs");
  });

  it("refuses another tokenizer, and a folder whose run.json is damaged", async () => {
    const [tokenizer, out] = [join(folder, "tokenizer"), join(folder, "with-tokenizer")];
    mkdirSync(tokenizer);
    writeFileSync(join(tokenizer, "tokenizer.json"), "{}");
    await collect({ ...watching(out), config: { ...collecting, tokenizer } });
    await expect(collect({ ...watching(out), config: collecting })).rejects.toThrow(
      "it differs in tokenizer;",
    );
    writeFileSync(join(out, "run.json"), "null");
    await expect(collect({ ...watching(out), config: collecting })).rejects.toThrow(
      "run.json: expected a JSON object, received null",
    );
  });

  it("names tasks that are not there, and leaves no folder behind", async () => {
    const out = join(folder, "none");
    const config = { ...collecting, environment: { ...collecting.environment, tasks: ["x"] } };
    await expect(collect({ ...watching(out), config })).rejects.toThrow(
      'environment.tasks: no game is named "x"',
    );
    expect(existsSync(out)).toBe(false);
  });
});

it.each([
  [{ name: "scienceworld", simulator: "x.jar" }, "environment.tasks: missing; expected the tasks to play"],
  [
    { name: "scienceworld", games: "g", tasks: ["boil|1|easy"] },
    "environment.games: does not apply to scienceworld",
  ],
  [
    { name: "scienceworld", made: { count: 1, seed: 0 }, tasks: ["boil|1|easy"] },
    "environment.made: does not apply to scienceworld; expected environment.simulator",
  ],
  [{ name: "alfworld" }, "environment.games: missing; alfworld is opened from it, or from environment.made"],
  [
    { name: "alfworld", games: "g", made: { count: 1, seed: 0 } },
    "environment.made: expected either it or environment.games",
  ],
  [
    { name: "alfworld", made: { count: 1, seed: 0, products: 5 } },
    "environment.made.products: does not apply to alfworld",
  ],
  [
    { name: "webshop", made: { count: 1, seed: 0, size: "small" } },
    "environment.made.size: does not apply to webshop",
  ],
])("%j is refused by its key", async (given, message) => {
  const config = collectConfigSchema.parse({ environment: given, model: MODEL });
  await expect(collect({ ...watching(join(folder, "refused")), config })).rejects.toThrow(message);
});

describe("gcopd evaluate", () => {
  it("writes figures over tasks and seeds, the same after a kill at any point", async () => {
    const run = (options: Omit<PlayRunOptions, "config">) => evaluate({ ...options, config: evaluating });
    // Draws that depend on the batch are repeated too: groups that were interrupted begin again.
    const files = await survivesKills("evaluated", run, {
      events: ["start", "end"],
      sampler: unsteady,
    });
    expect(Object.keys(files)).toEqual(["episodes.jsonl", "results.json", "run.json"]);
    const results = JSON.parse(files["results.json"]!);
    expect(results).toMatchObject({ tasks: 2, seeds: [0, 1], score: null, sr: { mean: expect.any(Number) } });
    expect(Object.keys(results.per_type)).toEqual(["look_at_obj_in_light", "pick_and_place_simple"]);
    expect(results.rounds.mean).toBe(5);
    const [first] = files["episodes.jsonl"]!.split("\n");
    expect(JSON.parse(first!)).toMatchObject({ format: "gcopd.episode.v1", repetition: 0 });
  });

  it("leaves out of the figures what ended for a technical reason, and says so", async () => {
    const out = join(folder, "technical");
    await evaluate({ ...watching(out), config: evaluating });
    const records = readFileSync(join(out, "episodes.jsonl"), "utf8").split("\n");
    const broken = JSON.parse(records[1]!);
    Object.assign(broken.outcome, { ended: "technical", complete: false, technical_reason: "no answer" });
    records[1] = JSON.stringify(broken);
    writeFileSync(join(out, "episodes.jsonl"), records.join("\n"));
    const notes: string[] = [];
    const onNote = (note: string) => void notes.push(note);
    const { results } = await evaluate({ ...watching(out), onNote, config: evaluating });
    expect(results).toMatchObject({
      tasks: 1,
      technical: [{ task: TASKS[1], seed: 0, reason: "no answer" }],
    });
    expect(notes).toEqual([
      "1 of 4 episodes ended for a technical reason and are not results: the figures leave out their task " +
        `(first: ${TASKS[1]}, seed 0: no answer)`,
    ]);
  });

  it("compares two students on the same tasks and seeds", async () => {
    const [a, b] = [join(folder, "a"), join(folder, "b")];
    await evaluate({ ...watching(a), config: evaluating });
    const { comparison } = await evaluate({ ...watching(b), config: evaluating, against: a });
    expect(comparison).toMatchObject({
      ...{ tasks: 2, sr: { difference: 0, interval: null }, pairs: { only_a: 0, only_b: 0 } },
      differing: [],
    });
    expect(JSON.parse(readFileSync(join(b, "comparison.json"), "utf8"))).toEqual(comparison);
    await expect(
      evaluate({ ...watching(join(folder, "c")), config: evaluating, against: join(folder, "nowhere") }),
    ).rejects.toThrow("nowhere");
    const { environment } = evaluating;
    const other = { ...evaluating, temperature: 1.5, environment: { ...environment, max_decisions: 1 } };
    const unlike = await evaluate({ ...watching(join(folder, "c")), config: other, against: a });
    const differing = [
      "temperature 1.5 here, 0.4 there",
      `at most 1 decision here, ${environment.max_decisions} there`,
    ];
    expect(unlike.comparison).toMatchObject({ differing });
    expect(comparisonText("c", "a", unlike.comparison!)).toContain(
      `; they were also played differently: ${differing.join("; ")}`,
    );
    // A folder of an earlier version.
    writeFileSync(join(a, "run.json"), "{}");
    const unknown = await evaluate({ ...watching(join(folder, "c")), config: other, against: a });
    expect(unknown.comparison!.differing).toBeNull();
    expect(comparisonText("c", "a", unknown.comparison!)).toContain("; a does not say how it was played");
  });
});
