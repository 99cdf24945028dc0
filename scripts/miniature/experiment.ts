/**
 * Runs the registered experiment of the miniature, or goes on with it: worlds and libraries, the choice of settings,
 * every method × seed × world, and the tables. The same command goes on after its time, a kill or Ctrl-C.
 *
 *     npm run build
 *     node scripts/run.mjs scripts/miniature/experiment.ts --out /data/registered --at-once 12 --minutes 22
 *
 * `--seeds 1,2` runs these of the registered seeds only, in a folder that needs no other; folders of different seeds can be
 * put together afterwards, and the command then writes the tables of all. `--methods opd,gc-opd` runs these of the
 * registered methods; without it the others follow. `--cells registered-cells.json` joins the trainings of that file to the
 * tables, which need nothing of them here. `--slim` deletes the weights of students that
 * were evaluated, and keeps their SHA-256: what is then left of a finished cell is small, and the experiment can be moved.
 * Moved, it goes on at the same absolute path.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { InputError } from "../../src/core/errors.ts";
import { BUDGET_EXIT_CODE } from "../../src/core/loop/budget.ts";
import type { ExperimentResults } from "../../src/core/loop/index.ts";
import { sha256OfParts } from "../../src/node/sha256.ts";
import { cellsFile, cellsOf, joined, readCells } from "./cells.ts";
import { registeredResults, resultsText } from "./registered-results.ts";
import {
  type Chosen,
  choiceConfig,
  chosenSettings,
  readRegistration,
  UNSEEN,
  worldConfig,
  worldFolder,
} from "./registration.ts";
import { MiniatureTask } from "./task.ts";

const { values } = parseArgs({
  options: {
    registration: { type: "string", default: "configs/miniature/registered.json" },
    out: { type: "string" },
    "at-once": { type: "string", default: "1" },
    minutes: { type: "string" },
    /** As of `gcopd experiment`: the parts of each world are spread over these cards. */
    cards: { type: "string" },
    device: { type: "string", default: "auto" },
    seeds: { type: "string" },
    methods: { type: "string" },
    cells: { type: "string", multiple: true, default: [] },
    slim: { type: "boolean", default: false },
    /** The built command line. */
    gcopd: { type: "string", default: "bin/gcopd.js" },
    miniature: { type: "string", default: "public/miniature" },
  },
});
const began = performance.now();
const minutesLeft = (): number =>
  Number(values.minutes ?? Number.POSITIVE_INFINITY) - (performance.now() - began) / 60_000;
const atOnce = Number(values["at-once"]);
const say = (text: string): void => console.error(`miniature: ${text}`);

/** What ended the work before its end: an exit code. */
class Ended extends Error {
  constructor(readonly code: number) {
    super();
  }
}

// The parts end in order when the terminal tells them; this process then ends by their exit codes.
for (const name of ["SIGINT", "SIGTERM"] as const)
  process.on(name, () => {
    for (const child of running) if (name === "SIGTERM") child.kill(name);
  });
const running = new Set<ReturnType<typeof spawn>>();

async function main(): Promise<number> {
  if (values.out === undefined) throw new InputError("--out is missing: name a folder");
  const out = resolve(values.out);
  const registration = readRegistration(values.registration);
  const seeds = selected("seeds", registration.seeds, Number);
  const ids = selected(
    "methods",
    registration.methods.map(({ id }) => id),
    String,
  );
  const methods = registration.methods.filter(({ id }) => ids.includes(id));
  const inside = (...names: string[]): string => join(out, ...names);
  await mkdir(out, { recursive: true });
  await keepRegistration(inside("registration.json"));
  if (!existsSync(inside("models", "prompt.json")))
    for (const name of ["teacher", "student", "tokenizer", "prompt.json"])
      await cp(join(values.miniature, name), inside("models", name), { recursive: true });

  const settings = await settingsChosen(registration, inside);
  for (const world of registration.worlds) await makeWorld(registration, world, inside);
  const codes = await Promise.all(
    registration.worlds.map(async (world, n) => {
      const folder = worldFolder(world);
      await writeWhole(
        inside(folder, "experiment.json"),
        worldConfig({ ...registration, seeds, methods }, world, settings),
      );
      const lanes = Math.floor(atOnce / registration.worlds.length);
      const more = n < atOnce % registration.worlds.length ? 1 : 0;
      return experiment(inside(folder, "experiment.json"), inside(folder, "runs"), Math.max(1, lanes + more));
    }),
  );
  if (values.slim) for (const world of registration.worlds) await slim(inside(worldFolder(world), "runs"));
  await writeTables(registration, inside);
  // What failed is told before what only had no time.
  return codes.find((code) => code !== 0 && code !== BUDGET_EXIT_CODE) ?? Math.max(...codes);
}

/** What the option selects of what is registered; without it, all. @throws InputError for what is not registered */
function selected<T>(option: "seeds" | "methods", registered: readonly T[], read: (text: string) => T): T[] {
  const some = values[option]?.split(",").map(read) ?? [...registered];
  const other = some.find((each) => !registered.includes(each));
  if (other !== undefined) throw new InputError(`--${option}: ${other} is none of ${registered.join(", ")}`);
  return some;
}

/** @throws InputError when the folder is of another registration */
async function keepRegistration(file: string): Promise<void> {
  const text = await readFile(values.registration, "utf8");
  if (!existsSync(file)) await writeFile(file, text);
  else if ((await readFile(file, "utf8")) !== text)
    throw new InputError("this folder is of another registration; use another --out", { file });
}

type Registration = ReturnType<typeof readRegistration>;
type Inside = (...names: string[]) => string;

/** The settings of the registration: a single candidate as it is, others by the validation world. */
async function settingsChosen(registration: Registration, inside: Inside): Promise<Chosen> {
  const file = inside("choice.json");
  if (existsSync(file)) return (JSON.parse(await readFile(file, "utf8")) as { settings: Chosen }).settings;
  const chosen: Record<string, Chosen[string]> = {};
  const tried: object[] = [];
  const open: Registration["choice"] = [];
  for (const choice of registration.choice) {
    const [only, ...others] = choice.candidates;
    if (others.length === 0) chosen[choice.for] = only!;
    else open.push(choice);
  }
  const world = registration.validation_world;
  if (open.length > 0) await makeWorld(registration, world, inside);
  const folder = worldFolder(world);
  // Side by side, with lanes by the number of their trainings.
  const cells = ({ by, seeds, candidates }: Registration["choice"][number]) =>
    by.length * seeds.length * candidates.length;
  const all = open.reduce((sum, choice) => sum + cells(choice), 0);
  const codes = await Promise.all(
    open.map(async (choice) => {
      const config = inside(folder, `choice-${choice.for}.json`);
      await writeWhole(config, choiceConfig(registration, choice));
      const runs = inside(folder, `choice-${choice.for}`);
      const code = await experiment(config, runs, Math.max(1, Math.floor((atOnce * cells(choice)) / all)));
      if (values.slim) await slim(runs);
      return code;
    }),
  );
  const ended = codes.find((code) => code !== 0 && code !== BUDGET_EXIT_CODE) ?? Math.max(0, ...codes);
  if (ended !== 0) throw new Ended(ended);
  for (const choice of open) {
    const results = await resultsOf(inside(folder, `choice-${choice.for}`));
    const measured = results.tables.find(({ evaluation }) => evaluation === UNSEEN)!;
    const { settings, means } = chosenSettings(
      choice,
      (id) => measured.methods.find(({ method }) => method === id)!.sr.mean,
    );
    say(`settings for ${choice.for}: ${JSON.stringify(settings)}`);
    chosen[choice.for] = settings;
    tried.push({ for: choice.for, means });
  }
  await writeWhole(file, { settings: chosen, tried });
  return chosen;
}

/** Writes a world's library: executions by the noisy planner, and the plans. */
async function makeWorld({ tasks, library }: Registration, world: number, inside: Inside): Promise<void> {
  const file = inside(worldFolder(world), "sources.jsonl.gz");
  if (existsSync(file)) return;
  await mkdir(inside(worldFolder(world)), { recursive: true });
  const start = performance.now();
  const lines: string[] = [];
  let covered = 0;
  for (let seed = tasks.first; seed < tasks.first + tasks.count; seed += 1) {
    if (minutesLeft() < 0) throw new Ended(BUDGET_EXIT_CODE);
    const task = new MiniatureTask(seed, world, join(values.miniature, "prompt.json"));
    let solved = false;
    for (let k = 0; k < library.repetitions; k += 1) {
      const source = await task.source(k, library.noise);
      solved ||= source.outcome.success;
      lines.push(`${JSON.stringify(source)}\n`);
    }
    lines.push(`${JSON.stringify(await task.plan())}\n`);
    if (solved) covered += 1;
  }
  await writeFile(`${file}.part`, gzipSync(lines.join(""), { level: 9 }));
  await rename(`${file}.part`, file);
  say(
    `world ${world}: ${lines.length} sources, ${covered} of ${tasks.count} tasks solved by the generator, ` +
      `${((performance.now() - start) / 1000).toFixed(0)} s`,
  );
}

/** @returns the exit code of `gcopd experiment` */
async function experiment(config: string, out: string, lanes: number): Promise<number> {
  const left = minutesLeft();
  if (left <= 0) return BUDGET_EXIT_CODE;
  const bounded = Number.isFinite(left);
  say(`${out}: ${lanes} at once, ${bounded ? `for ${left.toFixed(1)} minutes` : "until the end"}`);
  const child = spawn(
    process.execPath,
    [
      ...[resolve(values.gcopd), "experiment", "--config", config, "--out", out],
      ...["--at-once", String(lanes), "--device", values.device],
      ...(bounded ? ["--minutes", String(left)] : []),
      ...(values.cards === undefined ? [] : ["--cards", values.cards]),
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  running.add(child);
  return new Promise<number>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => {
      running.delete(child);
      done(code ?? 1);
    });
  });
}

const resultsOf = async (runs: string): Promise<ExperimentResults> =>
  JSON.parse(await readFile(join(runs, "results.json"), "utf8"));

/** Takes away the weights of what was evaluated and is no parent of what is not. */
async function slim(runs: string): Promise<void> {
  if (!existsSync(join(runs, "results.json"))) return;
  const { cells, tables } = await resultsOf(runs);
  const evaluations = new Set(await readdir(join(runs, "evaluations")));
  const isMeasured = ({ method, seed }: (typeof cells)[number]): boolean =>
    tables.length === evaluations.size &&
    tables.every((each) => each.cells.some((cell) => cell.method === method && cell.training_seed === seed));
  const finished = cells.filter(isMeasured);
  const parents = new Set(finished.flatMap(({ parent }) => parent ?? []));
  for (const { parent } of cells.filter((cell) => !isMeasured(cell))) parents.delete(parent ?? "");
  for (const run of [...finished.map((cell) => cell.run), ...parents]) {
    await rm(join(runs, run, "checkpoints"), { recursive: true, force: true });
    const weights = join(runs, run, "student", "model.safetensors");
    if (!existsSync(weights)) continue;
    await writeFile(`${weights}.sha256`, `${sha256OfParts(await readFile(weights))}\n`);
    await rm(weights);
  }
}

async function writeTables(registration: Registration, inside: Inside): Promise<void> {
  const deviations: string[] = [];
  const lists = await Promise.all(values.cells.map(readCells));
  for (const world of registration.worlds) {
    const runs = inside(worldFolder(world), "runs");
    lists.push(await cellsOf(world, runs));
    if (!existsSync(join(runs, "results.json"))) continue;
    deviations.push(
      ...(await resultsOf(runs)).deviations.map(
        ({ part, kind, reason }) => `world ${world}: ${part}: ${kind}: ${reason}`,
      ),
    );
  }
  const cells = joined(lists);
  const results = registeredResults(registration, cells, deviations);
  await writeFile(inside("registered-cells.json"), cellsFile(cells, registration));
  await writeWhole(inside("registered-results.json"), results);
  const text = resultsText(results);
  await writeFile(inside("registered-results.txt"), `${text}\n`);
  console.log(text);
}

async function writeWhole(file: string, value: object): Promise<void> {
  await writeFile(`${file}.part`, `${JSON.stringify(value, null, 2)}\n`);
  await rename(`${file}.part`, file);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof Ended) process.exitCode = error.code;
  else if (error instanceof InputError) {
    say(error.message);
    process.exitCode = 1;
  } else throw error;
}
