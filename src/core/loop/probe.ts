/**
 * The time of a run, before it starts: a small real part of it is done on its device, and taken to the whole as a range.
 * What was measured is told beside it.
 */
import { checkDistributionBytes } from "../distribution-bound.ts";
import { type Stage, stagesTaken } from "../method/method.ts";
import { SAMPLED_TOKEN } from "../method/signal.ts";
import type { ScoreRequest, Scorer, StepSettings, Trainer, TrainItem, WorkOptions } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import type { TextCodec } from "./codec.ts";
import { batchRows, type Row } from "./rows.ts";
import { askedBy, type TeacherContexts } from "./score-batch.ts";

/** Sequences that one model reads. */
export interface Reading {
  sequences: number;
  /** Tokens of all sequences, prompt and response together. */
  tokens: number;
  /** Σ length²: what attention costs. */
  squares: number;
}

/** A call of a model and how long it took. */
export interface Measured extends Reading {
  /** Wall clock. */
  seconds: number;
}

export interface ModelProbe {
  /** What the run will read, and in how many calls. */
  whole: Reading & { calls: number };
  /** One sequence, after a warm-up. */
  small: Measured;
  /** Neighbours of typical length, as a step reads them, perhaps more than once; none where they would take too long. */
  large: Measured[];
}

export interface RunProbe {
  /** One for each comparison that the stages' signals make: what a call costs depends on it. */
  teacher: ModelProbe[];
  student: ModelProbe[];
  /** Seconds that reading, retrieving and rendering took for all episodes, once a stage. */
  preparing: number;
  /** How often the run does that, at most. */
  epochs: number;
}

export interface ProbeOptions {
  /** Episodes, and how to read one. */
  units: number;
  episode(unit: number): Promise<Episode>;
  stages: readonly Stage[];
  batchSize: number;
  contexts: TeacherContexts;
  codec: TextCodec;
  settings: StepSettings;
  teacher: Scorer;
  /** Takes real steps: open one to be thrown away. */
  student: Trainer;
  /** Seconds that the larger call of a model may take, as predicted from the smaller one. 8 when absent. */
  most?: number;
  signal?: AbortSignal;
  /** What is done now, in words. */
  onWork?: (what: string) => void;
}

/** Tokens of the small call, about. */
const SMALL = 256;
/** Most tokens of the larger call: about as many as a pass holds. */
const LARGE = 8192;

/** What one model reads for stages of one comparison. */
interface Reads {
  places: ProbedRow[];
  whole: Reading;
}

/** A sequence of the run. */
interface ProbedRow {
  unit: number;
  row: number;
  stage: Stage;
  length: number;
}

type Call = (places: readonly ProbedRow[], skip: number, options: WorkOptions) => Promise<void>;

/**
 * Measures both models on a few decisions of the run itself.
 *
 * @throws InputError for what the run would refuse; the signal's reason when aborted
 */
export async function probeRun(options: ProbeOptions): Promise<RunProbe> {
  const { units, batchSize, contexts, codec, settings, teacher, student, signal, onWork } = options;
  const stages = stagesTaken(options);
  const groups = byComparison(stages).map((of) => ({
    of,
    epochs: epochsOf(of),
    teacher: noReads(),
    student: noReads(),
  }));
  const add = (reads: Reads, place: ProbedRow, times: number): void => {
    reads.places.push(place);
    reads.whole = plus(reads.whole, place.length, times);
  };
  onWork?.("reading the episodes");
  const began = performance.now();
  for (let unit = 0; unit < units; unit += 1) {
    signal?.throwIfAborted();
    const episode = await options.episode(unit);
    const rows = batchRows([episode], codec);
    for (const { of, epochs, teacher, student } of groups) {
      for (const [n, stage] of of.entries()) {
        const context = await contexts(episode, stage.evidence);
        rows.forEach(({ decision, promptIds, responseIds }, row) => {
          const length =
            context(decision, promptIds, responseIds.length).promptIds.length + responseIds.length;
          add(teacher, { unit, row, stage, length }, stage.epochs);
          if (n === 0)
            add(student, { unit, row, stage, length: promptIds.length + responseIds.length }, epochs);
        });
      }
    }
  }
  const preparing = (performance.now() - began) / 1000;

  const rowsAt = async (places: readonly ProbedRow[]): Promise<Row[]> => {
    const rows: Row[] = [];
    for (const { unit, row } of places) rows.push(batchRows([await options.episode(unit)], codec)[row]!);
    return rows;
  };
  // A prompt without its first tokens is another one: what a scorer keeps of the one before is of no use to it.
  const score: Call = async (places, skip, work) => {
    const rows = await rowsAt(places);
    const requests: ScoreRequest[] = [];
    for (const [n, { episode, decision, promptIds, responseIds }] of rows.entries()) {
      const context = await contexts(episode, places[n]!.stage.evidence);
      const ids = context(decision, promptIds, responseIds.length).promptIds;
      requests.push({ id: String(n), promptIds: shortened(ids, skip), responseIds });
    }
    const { signal: compared = SAMPLED_TOKEN } = places[0]!.stage;
    await timedCall(() => teacher.score(requests, { ...work, ...askedBy(compared) }));
  };
  const step: Call = async (places, skip, work) => {
    const { stage } = places[0]!;
    const items = (await rowsAt(places)).map(
      ({ episode, decision, promptIds, responseIds, rolloutLogprobs }): TrainItem => ({
        episode: episode.episode,
        decision,
        promptIds: shortened(promptIds, skip),
        responseIds,
        // Whatever the teacher says, the arithmetic is the same.
        teacherLogprobs: responseIds.map(() => -1),
        rolloutLogprobs,
        weight: 1 / (places.length * responseIds.length),
        ...evenTargets(stage, responseIds.length, student.info.vocabulary),
      }),
    );
    await timedCall(() => student.step(items, settings, work));
  };
  let lastCall = 0;
  async function timedCall(work: () => Promise<unknown>): Promise<void> {
    const start = performance.now();
    await work();
    lastCall = (performance.now() - start) / 1000;
  }
  const timed = async (call: Call, places: readonly ProbedRow[], skip: number): Promise<Measured> => {
    signal?.throwIfAborted();
    await call(places, skip, signal === undefined ? {} : { signal });
    return { ...readingOf(places), seconds: Math.max(1e-4, lastCall) };
  };
  /** @param skip tokens that calls of another group do not leave out */
  const probe = async (
    of: "teacher" | "student",
    { places, whole }: Reads,
    call: Call,
    { calls, skip }: { calls: number; skip: number },
  ): Promise<ModelProbe> => {
    const { most = 8 } = options;
    const doing = of === "teacher" ? "the teacher reads" : "the student takes a step on";
    const first = nearest(places, SMALL);
    onWork?.(`${doing} ${first.length} tokens`);
    await timed(call, [first], skip + 2);
    const small = await timed(call, [first], skip + 1);
    const affordable = places.filter(({ length }) => worstSeconds(plus(NOTHING, length), small) <= most);
    const group =
      affordable.length === 0
        ? []
        : neighbours(places, nearest(affordable, whole.squares / whole.tokens), small, most);
    const large: Measured[] = [];
    if (group.length > 0) {
      onWork?.(`${doing} ${readingOf(group).tokens} tokens`);
      // The first call of a size compiles and allocates; where that alone takes long it has to do.
      const measured = await timed(call, group, skip + 2);
      if (measured.seconds > most / 2) large.push(measured);
      else large.push(await timed(call, group, skip + 1), await timed(call, group, skip));
    }
    return { whole: { ...whole, calls }, small, large };
  };
  const result: RunProbe = { teacher: [], student: [], preparing, epochs: epochsOf(stages) };
  for (const [n, { epochs, teacher: reads }] of groups.entries())
    result.teacher.push(await probe("teacher", reads, score, { calls: epochs * units, skip: 3 * n }));
  const batches = Math.ceil(units / batchSize);
  for (const [n, { epochs, student: reads }] of groups.entries())
    result.student.push(await probe("student", reads, step, { calls: epochs * batches, skip: 3 * n }));
  return result;
}

/** Stages whose signals ask the same of a scorer. */
function byComparison(stages: readonly Stage[]): Stage[][] {
  const groups = new Map<string, Stage[]>();
  for (const stage of stages) {
    const key = JSON.stringify(askedBy(stage.signal ?? SAMPLED_TOKEN));
    groups.set(key, [...(groups.get(key) ?? []), stage]);
  }
  return [...groups.values()];
}

const epochsOf = (stages: readonly Stage[]): number => stages.reduce((sum, { epochs }) => sum + epochs, 0);

/** Seconds of the whole run: the least and the most that what was measured allows. Checkpoints are not in it. */
export function probedTime({ teacher, student, preparing, epochs }: RunProbe): { low: number; high: number } {
  const ranges = [...teacher, ...student].map(modelTime);
  return {
    low: preparing + ranges.reduce((sum, { low }) => sum + low, 0),
    high: preparing * Math.max(1, epochs) + ranges.reduce((sum, { high }) => sum + high, 0),
  };
}

/**
 * Of one model and comparison. Between its tokens and the squares of its lengths lies what a pass costs; a call has a part that does not
 * grow with it (AdamW, the start of a pass), which two sizes tell apart.
 */
export function modelTime({ whole, small, large }: ModelProbe): { low: number; high: number } {
  const found = (large.length === 0 ? [small] : large).flatMap((measured) => [
    (whole.tokens * measured.seconds) / measured.tokens,
    (whole.squares * measured.seconds) / measured.squares,
  ]);
  for (const { tokens, seconds } of large) {
    const rate = (seconds - small.seconds) / (tokens - small.tokens);
    if (!(tokens > small.tokens && rate > 0)) continue;
    const each = Math.max(0, small.seconds - rate * small.tokens);
    found.push(rate * whole.tokens + each * whole.calls);
  }
  return { low: Math.min(...found), high: Math.max(...found) };
}

/** A teacher that holds all tokens equally probable, as far as the stage's signal compares them. */
function evenTargets(
  { signal = SAMPLED_TOKEN }: Pick<Stage, "signal">,
  tokens: number,
  vocabulary: number,
): Pick<TrainItem, "teacherTop" | "teacherDistribution"> {
  if (signal.kind === "sampled-token") return {};
  if (signal.kind === "full-vocabulary") {
    checkDistributionBytes("a decision", tokens, vocabulary);
    return { teacherDistribution: new Float32Array(tokens * vocabulary) };
  }
  const { k } = signal;
  const ids = Uint32Array.from({ length: tokens * k }, (_, i) => i % k);
  return { teacherTop: { ids, logprobs: new Float32Array(ids.length) } };
}

function shortened(ids: readonly number[], skip: number): readonly number[] {
  return ids.slice(Math.min(skip, Math.max(0, ids.length - 1)));
}

/** What a call may take by the time of the small one. */
function worstSeconds({ tokens, squares }: Reading, small: Measured): number {
  return small.seconds * Math.max(tokens / small.tokens, squares / small.squares);
}

const NOTHING: Reading = { sequences: 0, tokens: 0, squares: 0 };

const noReads = (): Reads => ({ places: [], whole: NOTHING });

function plus({ sequences, tokens, squares }: Reading, length: number, times = 1): Reading {
  return {
    sequences: sequences + times,
    tokens: tokens + times * length,
    squares: squares + times * length * length,
  };
}

function readingOf(places: readonly ProbedRow[]): Reading {
  return places.reduce((sum, { length }) => plus(sum, length), NOTHING);
}

function nearest(places: readonly ProbedRow[], length: number): ProbedRow {
  return places.reduce((best, place) =>
    Math.abs(place.length - length) < Math.abs(best.length - length) ? place : best,
  );
}

/**
 * Sequences of one episode and stage from `from` on, then those before it, as long as they stay below the tokens of a
 * pass and, by the time of the small call, below the seconds.
 */
function neighbours(
  places: readonly ProbedRow[],
  from: ProbedRow,
  small: Measured,
  most: number,
): ProbedRow[] {
  const own = places.filter(({ unit, stage }) => unit === from.unit && stage === from.stage);
  const at = own.indexOf(from);
  const taken: ProbedRow[] = [];
  let sum = NOTHING;
  for (const place of [...own.slice(at), ...own.slice(0, at).reverse()]) {
    const next = plus(sum, place.length);
    if (worstSeconds(next, small) > most || (taken.length > 0 && next.tokens > LARGE)) break;
    taken.push(place);
    sum = next;
  }
  return taken.sort((a, b) => a.row - b.row);
}
