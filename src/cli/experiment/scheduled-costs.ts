/** What schedules of sampling add to a probe's cost: each update plays another part of an episode. */
import { join } from "node:path";
import { z } from "zod";
import { environmentRules } from "../../core/environment/environment.ts";
import {
  type CostStage,
  configuredMethod,
  type DecisionRange,
  type ExperimentGrid,
  type GridRun,
  namedFiles,
  type ScheduledEnvironment,
  scheduledDecisions,
} from "../../core/loop/index.ts";
import { referenceOf } from "../../core/loop/references.ts";
import { type Stage, stagesTaken } from "../../core/method/index.ts";
import type { Source } from "../../core/record/schema.ts";
import { readRecords } from "../../formats/read.ts";
import { openBytes } from "../io.ts";
import { evaluatedEpisodes } from "../live/evaluate.ts";
import { readLines } from "../train/event-log.ts";
import type { Measured } from "./grid-run.ts";

/** One stage of a run, by its cost. */
type Played = Extract<CostStage, "rollout" | "scoring" | "update">;

/** A run whose stages play by a schedule. */
export interface ScheduledRun {
  run: string;
  /** Decisions of the student per episode, over the whole training. */
  decisions: DecisionRange;
  /** Seconds of the whole training by cost, of all its stages. */
  seconds: Record<Played, DecisionRange>;
  /** What the probe took for the same. */
  probed: Record<Played, number>;
}

/** Whether a stage plays other than whole episodes. */
const isScheduled = ({ sampling }: Stage): boolean => sampling !== undefined;

interface Probe {
  inside: (name: string) => string;
  measured: readonly Measured[];
  /** Tasks of the whole training, and of the probe. */
  tasks: number;
  probed: number;
}

/**
 * Walks the schedules of the runs that have one, over all their updates. What a decision costs is taken from the probe;
 * so are whole episodes' lengths, from its evaluation of the untrained student, and the references, from its library.
 */
export async function scheduledRuns(grid: ExperimentGrid, probe: Probe): Promise<ScheduledRun[]> {
  const runs = grid.runs.filter(({ config }) => stagesTaken(configuredMethod(config)).some(isScheduled));
  const found: ScheduledRun[] = [];
  for (const run of runs) found.push(scheduledRun(run, await placeOf(run, probe), probe));
  return found;
}

function scheduledRun(
  { name, config }: GridRun,
  place: ScheduledEnvironment,
  { inside, ...of }: Probe,
): ScheduledRun {
  const { stages } = configuredMethod(config);
  const scale = of.tasks / of.probed;
  const batches = Math.ceil(of.tasks / config.batch_size);
  const seconds = { rollout: nothing(), scoring: nothing(), update: nothing() };
  const probed = { rollout: 0, scoring: 0, update: 0 };
  const decisions = nothing();
  const epochs = stages.reduce((sum, stage) => sum + stage.epochs, 0);
  const played = playedStages(inside(name));
  for (const [n, stage] of stages.entries()) {
    if (stage.epochs === 0) continue;
    const walked = scheduledDecisions(
      stage,
      { from: (stage.firstEpoch ?? 0) * batches, updates: stage.epochs * batches },
      place,
    );
    add(decisions, walked, stage.epochs / epochs);
    const own = played.get(n);
    if (own === undefined) continue;
    const factor = (bound: keyof DecisionRange): number =>
      !isScheduled(stage) || own.decisions === 0
        ? scale
        : (walked[bound] * stage.epochs * of.tasks) / own.decisions;
    for (const cost of ["rollout", "scoring", "update"] as const) {
      probed[cost] += own.seconds[cost] + own.bridged[cost];
      add(seconds[cost], { low: factor("low"), high: factor("high") }, own.seconds[cost]);
      // One bridge per episode at most: as many as in the probe, or more where turns are more.
      add(seconds[cost], { low: scale, high: Math.max(scale, factor("high")) }, own.bridged[cost]);
    }
  }
  return { run: name, decisions, seconds, probed };
}

const nothing = (): DecisionRange => ({ low: 0, high: 0 });

function add(to: DecisionRange, { low, high }: DecisionRange, times: number): void {
  to.low += times * low;
  to.high += times * high;
}

const eventSchema = z.object({
  type: z.enum(["rollout", "scored", "bridged", "updated"]),
  stage: z.int(),
  decisions: z.int().optional(),
  seconds: z.number(),
  updateSeconds: z.number().optional(),
  playSeconds: z.number().optional(),
  scoreSeconds: z.number().optional(),
});

interface PlayedStage {
  decisions: number;
  seconds: Record<Played, number>;
  bridged: Record<Played, number>;
}

/** What a run played in each stage, and how long it took. */
function playedStages(out: string): Map<number, PlayedStage> {
  const stages = new Map<number, PlayedStage>();
  for (const line of readLines(join(out, "events.jsonl"))) {
    const event = eventSchema.safeParse(line).data;
    if (event === undefined) continue;
    const none = { rollout: 0, scoring: 0, update: 0 };
    const own = stages.get(event.stage) ?? { decisions: 0, seconds: { ...none }, bridged: { ...none } };
    stages.set(event.stage, own);
    if (event.type === "rollout") {
      own.decisions += event.decisions ?? 0;
      own.seconds.rollout += event.seconds;
    }
    if (event.type === "scored") own.seconds.scoring += event.seconds;
    if (event.type === "updated") own.seconds.update += event.updateSeconds ?? 0;
    own.bridged.rollout += event.playSeconds ?? 0;
    own.bridged.scoring += event.scoreSeconds ?? 0;
  }
  return stages;
}

async function placeOf({ config }: GridRun, { inside, measured }: Probe): Promise<ScheduledEnvironment> {
  const { name, max_decisions } = config.environment!;
  const horizon = max_decisions ?? environmentRules(name).limits.decisions;
  const lengths: number[] = [];
  for (const each of measured)
    if (each.run === null)
      lengths.push(...(await evaluatedEpisodes(inside(each.name))).map(({ decisions }) => decisions));
  const needsReferences = stagesTaken(configuredMethod(config)).some(
    ({ sampling }) => sampling?.kind === "prefix",
  );
  return {
    ...{ environment: name, horizon, lengths },
    references: needsReferences ? await referenceLengths(namedFiles(config.library)) : [],
  };
}

/** Actions of the reference of each task of a library. */
async function referenceLengths(files: readonly string[]): Promise<(number | null)[]> {
  const tasks = new Map<string, Source[]>();
  for (const file of files)
    for await (const { record } of readRecords(openBytes(file), { file, kind: "source" })) {
      // Only these can be references: the others need not be kept.
      const kept = tasks.get(record.task) ?? [];
      tasks.set(record.task, referenceOf([record]) === null ? kept : [...kept, record]);
    }
  return [...tasks.values()].map((sources) => referenceOf(sources)?.decisions.length ?? null);
}
