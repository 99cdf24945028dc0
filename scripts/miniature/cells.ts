/** The registered trainings that have ended, as they are kept: figures of each, from the results and events of its world. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../src/core/errors.ts";
import type { ExperimentResults, TrainEvent } from "../../src/core/loop/index.ts";
import { checkSchema, parseObject } from "../../src/formats/read.ts";
import { type Registration, UNSEEN } from "./registration.ts";

const FORMAT = "gcopd.registered-cells.v1";
/** Updates whose sampled successes are one mean. */
const SAMPLED_EVERY = 10;

const cellSchema = z.strictObject({
  world: z.int().min(0),
  method: z.string(),
  seed: z.int().min(0),
  /** Success of the final student in percent of tasks, mean over inference seeds. */
  unseen: z.number(),
  /** Null where its measurement was lost with the machine. */
  seen: z.number().nullable(),
  /** [optimizer steps, success in percent] while it trained, of its parent too. */
  curve: z.array(z.tuple([z.int().min(0), z.number()])),
  /** Successes among the sampled episodes of an update, each a mean over ten, from update `sampled_from` on. */
  sampled_from: z.int().min(1),
  sampled: z.array(z.number()),
});

export type RegisteredCell = z.infer<typeof cellSchema>;

const fileSchema = z.strictObject({
  format: z.literal(FORMAT),
  planned: z.int().min(1),
  sampled_every: z.literal(SAMPLED_EVERY),
  cells: z.array(cellSchema),
});

/** @throws InputError that names file and key */
export async function readCells(file: string): Promise<RegisteredCell[]> {
  return checkSchema(fileSchema, parseObject(await readFile(file, "utf8"), { file }), { file }).cells;
}

/** The file of these cells, one per line. */
export function cellsFile(cells: readonly RegisteredCell[], registration: Registration): string {
  const planned = registration.worlds.length * registration.seeds.length * registration.methods.length;
  const head = JSON.stringify({ format: FORMAT, planned, sampled_every: SAMPLED_EVERY }).slice(0, -1);
  return `${head},"cells":[\n${cells.map((cell) => JSON.stringify(cell)).join(",\n")}\n]}\n`;
}

const keyOf = ({ world, method, seed }: RegisteredCell): string => `world ${world}, ${method}, seed ${seed}`;

/**
 * Cells of several files or folders together, by world, seed and method.
 *
 * @throws InputError for a training that is in two of them with different figures
 */
export function joined(lists: readonly (readonly RegisteredCell[])[]): RegisteredCell[] {
  const found = new Map<string, RegisteredCell>();
  for (const cell of lists.flat()) {
    const before = found.get(keyOf(cell));
    if (before !== undefined && before.unseen !== cell.unseen)
      throw new InputError(`${keyOf(cell)}: ${before.unseen} % in one file, ${cell.unseen} % in another`);
    // One that was measured on seen tasks too says more.
    if (before === undefined || before.seen === null) found.set(keyOf(cell), cell);
  }
  return [...found.values()].sort(
    (a, b) => a.world - b.world || a.seed - b.seed || (a.method < b.method ? -1 : 1),
  );
}

/** The cells of a world's experiment that were measured to the end. */
export async function cellsOf(world: number, runs: string): Promise<RegisteredCell[]> {
  if (!existsSync(join(runs, "results.json"))) return [];
  const results: ExperimentResults = JSON.parse(await readFile(join(runs, "results.json"), "utf8"));
  const successOf = (evaluation: string, method: string, seed: number): number | undefined =>
    results.tables
      .find((each) => each.evaluation === evaluation)
      ?.cells.find((cell) => cell.method === method && cell.training_seed === seed)?.sr.mean;
  const cells: RegisteredCell[] = [];
  for (const { method, seed, run, parent } of results.cells) {
    const [unseen, seen] = [successOf(UNSEEN, method, seed), successOf("seen", method, seed)];
    if (unseen === undefined || seen === undefined) continue;
    const own = await eventsOf(join(runs, run));
    const parents = parent === null ? [] : await eventsOf(join(runs, parent));
    const sampled = own.flatMap((event) => (event.type === "rollout" ? [event] : []));
    cells.push({
      ...{ world, method, seed, unseen: hundredths(unseen), seen: hundredths(seen) },
      curve: curveOf([...parents, ...own]),
      sampled_from: sampled[0]?.step ?? 1,
      sampled: meansOf(sampled.map(({ successes }) => successes)),
    });
  }
  return cells;
}

type Told<T extends TrainEvent["type"]> = Extract<TrainEvent, { type: T }>;

/** What a run told of its samples and measurements, without what a later start told again. */
async function eventsOf(run: string): Promise<(Told<"rollout"> | Told<"evaluated">)[]> {
  const lines = (await readFile(join(run, "events.jsonl"), "utf8")).trimEnd().split("\n");
  const last = new Map<string, Told<"rollout"> | Told<"evaluated">>();
  for (const line of lines) {
    const event = JSON.parse(line) as TrainEvent;
    if (event.type === "rollout" || event.type === "evaluated")
      last.set(`${event.type} ${event.step}`, event);
  }
  return [...last.values()].sort((a, b) => a.step - b.step);
}

function curveOf(events: readonly (Told<"rollout"> | Told<"evaluated">)[]): [number, number][] {
  const points = new Map<number, number>();
  for (const event of events)
    if (event.type === "evaluated") points.set(event.step, hundredths(event.sr.mean));
  return [...points].sort(([a], [b]) => a - b);
}

function meansOf(successes: readonly number[]): number[] {
  const means: number[] = [];
  for (let at = 0; at < successes.length; at += SAMPLED_EVERY) {
    const some = successes.slice(at, at + SAMPLED_EVERY);
    means.push(Math.round((10 * some.reduce((sum, n) => sum + n, 0)) / some.length) / 10);
  }
  return means;
}

const hundredths = (value: number): number => Math.round(100 * value) / 100;
