/**
 * The loop of Algorithm 1, lines 3–16, over the ports: rollout → retrieve → render → score → update, a checkpoint
 * after each step. It knows nothing of files, devices or processes.
 */
import { DeviceError, InputError } from "../errors.ts";
import { asksTeacher, type Method, type Stage } from "../method/method.ts";
import type { StageUpdate } from "../method/ramp.ts";
import type { FolderReader, Scorer, StepSettings, Trainer, TrainItem } from "../ports.ts";
import type { Episode, Source } from "../record/schema.ts";
import { brokeOff } from "../record/standing.ts";
import { sha256Hex } from "../seeded.ts";
import { depthAfterProbe, isProbe, probedEpisodes } from "./adaptive-depth.ts";
import { type BatchTokens, batchTokens } from "./batch-tokens.ts";
import { epochBatches, type Position, repeatedTasks } from "./batches.ts";
import { bridges, type ScoredRow } from "./bridge.ts";
import { BudgetWatch, type RunBudget } from "./budget.ts";
import { type CheckpointStore, checkFingerprint, checkPosition } from "./checkpoint.ts";
import type { TextCodec } from "./codec.ts";
import { groupsIn, type RolloutContext, type TrainingData } from "./data.ts";
import type { TrainingEvaluation } from "./evaluation.ts";
import type { TrainEvent } from "./events.ts";
import { excludedEpisodes, hadNoTurn, noStepReason } from "./excluded-episodes.ts";
import { stepMetrics } from "./metrics.ts";
import type { ParentRun } from "./parent-run.ts";
import { batchRows, type Row } from "./rows.ts";
import { RunCheckpoints } from "./run-checkpoints.ts";
import { RunEvaluations } from "./run-evaluations.ts";
import { rolloutFigures, samplingPlan } from "./sampling-plan.ts";
import { scoreBatch, type TeacherContexts, unscoredItems } from "./score-batch.ts";
import { balancedItems, readsStudent, stageItems, studentLogprobs, withBridges } from "./stage-items.ts";
import { lookAtWatched, type Watch } from "./watched.ts";

/** How far one part of a step is. `total` counts what that part has to do in this step. */
export interface StepWork {
  what: "rollout" | "teacher" | "student" | "evaluation" | "checkpoint";
  done: number;
  total: number;
  unit: string;
}

export interface TrainOptions {
  method: Method;
  settings: StepSettings;
  /** Units a batch (the paper's task batch size, 32). */
  batchSize: number;
  seed: number;
  data: TrainingData;
  codec: TextCodec;
  /** Null where no stage asks one. */
  teacher: Scorer | null;
  /** Another run that this one begins from: `openStudent(null)` opens its checkpoint, optimizer state included. */
  parent?: ParentRun;
  /** Opens the student as it starts (null) or as a checkpoint folder holds it, optimizer state included. */
  openStudent(checkpoint: FolderReader | null): Promise<Trainer>;
  /**
   * Opens the device and the teacher again after the device failed; the student, disposed by then, is opened after it from
   * the last checkpoint. Absent, or without checkpoints: such a failure ends the run. `attempt` counts from 1.
   */
  reopen?(fault: DeviceError, attempt: number): Promise<Scorer | null>;
  /** Failures of the device since the last finished step that the run gets over. 3 when absent. */
  attempts?: number;
  contexts: TeacherContexts;
  /** All sources of a task, for the references of stages that replay them. Absent: every task begins at its start. */
  sources?: (environment: string, task: string) => Promise<readonly Source[]>;
  /** Measures the student as it is trained; the training's numbers are the same without it. */
  evaluation?: TrainingEvaluation;
  /** Looks at the student's recorded actions as it is trained; the training's numbers are the same without it. */
  watch?: Watch;
  /** Null keeps nothing: the run cannot be continued. */
  checkpoints: CheckpointStore | null;
  /** Steps between checkpoints; a stop, an evaluation and the end always make one. `CheckpointPace` when absent. */
  checkpointEvery?: number;
  /** After every so many steps there is a checkpoint, too. */
  keepEvery?: number;
  /**
   * The result does not wait for the checkpoint after the last step of a student that is kept by time (`CheckpointPace`):
   * it is written beside what follows, as `TrainResult.kept` says, and its event comes after `done` or `stopped`.
   */
  keepLastBeside?: boolean;
  /** Ends the run after a step when the next one would pass it. Absent: the run's time is not counted. */
  budget?: RunBudget;
  /** What else decides the numbers (models, library, limits): name → SHA-256. Kept with each checkpoint. */
  fingerprint: Readonly<Record<string, string>>;
  onEvent?: (event: TrainEvent) => void | Promise<void>;
  /** The tokens of each step, before its `updated` event. */
  onBatch?: (batch: BatchTokens) => void | Promise<void>;
  /** How far the present step is, often: for progress bars. Never kept. */
  onWork?: (work: StepWork) => void;
  /** Aborts at once, inside a step; the step is lost. */
  signal?: AbortSignal;
  /** Ends the run after the current step, with a checkpoint. */
  stop?: AbortSignal;
}

export interface TrainResult {
  /** The student after the last step. The caller saves and disposes it. */
  student: Trainer;
  /**
   * The last checkpoint while it is written (`keepLastBeside`): until this settles, the student may be read, and neither
   * be changed nor disposed. It rejects where the checkpoint could not be written; the one before stays. Null where
   * nothing is left to write.
   */
  kept: Promise<void> | null;
  step: number;
  /** False when it was stopped before the end. */
  finished: boolean;
  /** Its budget ended it. */
  overBudget: boolean;
}

/**
 * Runs a method from its start, or from the newest checkpoint of the same run to the same numbers.
 *
 * @throws InputError for bad records, for evidence that does not fit, for a checkpoint of another run, and for a run in
 * which every episode broke off or had no turn of the student, so that there is nothing to learn from
 * @throws the signal's reason when aborted; checkpoints made before stay
 */
export async function train(options: TrainOptions): Promise<TrainResult> {
  const run = new Run(options);
  return run.go();
}

class Run {
  readonly #options: TrainOptions;
  readonly #started = performance.now();
  readonly #fingerprint: Record<string, string>;
  readonly #settings: Record<string, number>;
  readonly #batchesPerEpoch: number;
  /** Optimizer steps of the student at the end, those of a parent run included. */
  #steps = 0;
  #teacher: Scorer | null;
  #student!: Trainer;
  #step = 0;
  /** TurnOPD's moving average, of the stage that has one. */
  #depth: { stage: number; average: number } | undefined;
  /** The last step that was finished, also when it was lost again. */
  #furthest = 0;
  /** Failures of the device since then, and since the last checkpoint. */
  #faults = 0;
  /** Batches without a step, since no episode of theirs was left, and why their episodes were not. */
  #skipped = { batches: 0, technical: 0, noTurn: 0 };
  /** The step after which the watched decisions were looked at last. */
  #lookedAt: number | null = null;
  readonly #evaluations: RunEvaluations;
  readonly #checkpoints: RunCheckpoints;
  readonly #budget: BudgetWatch | null;
  #overBudget = false;

  constructor(options: TrainOptions) {
    const { method, settings, batchSize, seed, data, codec, evaluation, fingerprint } = options;
    if (!Number.isInteger(batchSize) || batchSize < 1) {
      throw new InputError(`expected a batch size of at least 1, received ${batchSize}`);
    }
    this.#options = options;
    this.#teacher = options.teacher;
    this.#budget = options.budget === undefined ? null : new BudgetWatch(options.budget);
    this.#evaluations = new RunEvaluations({
      ...options,
      emit: (event) => this.#emit(event),
      onProgress: (progress) => this.#work("evaluation", progress),
    });
    this.#settings = { ...settings, batchSize, seed };
    this.#fingerprint = {
      ...fingerprint,
      data: data.fingerprint,
      method: sha256Hex(JSON.stringify(method.stages)),
      // Runs of an earlier version took them in another order; where each task comes once there is no difference.
      ...(new Set(data.tasks).size === data.tasks.length ? {} : { batches: sha256Hex("by task") }),
      // Absent for runs of earlier versions, which added no end-of-turn token to recorded text. Sampled responses have ids.
      ...(codec.endOfTurn && !data.fresh ? { end_of_turn: sha256Hex("true") } : {}),
      settings: sha256Hex(JSON.stringify(this.#settings)),
      ...(evaluation === undefined ? {} : { evaluation: evaluation.fingerprint }),
    };
    this.#checkpoints = new RunCheckpoints({
      ...options,
      fingerprint: this.#fingerprint,
      settings: this.#settings,
      emit: (event) => this.#emit(event),
      onProgress: (progress) => this.#work("checkpoint", progress),
    });
    this.#batchesPerEpoch = Math.ceil(data.units.length / batchSize);
  }

  /** The first batch of a stage. */
  #beginning(stage: number): Position {
    return { stage, epoch: this.#options.method.stages[stage]?.firstEpoch ?? 0, batch: 0 };
  }

  /** Batches from a position to the end of the schedule. */
  #batchesFrom({ stage, epoch, batch }: Position): number {
    return this.#options.method.stages.slice(stage).reduce((sum, { epochs, firstEpoch = 0 }, n) => {
      const done = n === 0 ? (epoch - firstEpoch) * this.#batchesPerEpoch + batch : 0;
      return sum + epochs * this.#batchesPerEpoch - done;
    }, 0);
  }

  /** From the newest checkpoint to the end, over failures of the device. */
  async go(): Promise<TrainResult> {
    let outcome = await this.#fromCheckpoint();
    while (outcome instanceof DeviceError) {
      await this.#recover(outcome);
      outcome = await this.#fromCheckpoint();
    }
    return outcome;
  }

  /** @throws the fault itself when the run cannot go on */
  async #recover(fault: DeviceError): Promise<void> {
    const { reopen, checkpoints, attempts = 3, signal } = this.#options;
    for (let error: unknown = fault; ; ) {
      signal?.throwIfAborted();
      // Without a device, opening one fails as bad input does: that is one more attempt.
      if (reopen === undefined || checkpoints === null || this.#faults === attempts) throw error;
      this.#faults += 1;
      await this.#emit({
        type: "fault",
        step: this.#checkpoints.step,
        fault: fault.fault,
        message: error instanceof Error ? error.message : String(error),
        attempt: this.#faults,
        attempts,
      });
      try {
        this.#teacher = await reopen(fault, this.#faults);
        return;
      } catch (again) {
        error = again;
      }
    }
  }

  /** @returns the fault when the device failed */
  async #fromCheckpoint(): Promise<TrainResult | DeviceError> {
    const { method, checkpoints, data, batchSize, parent } = this.#options;
    const checkpoint = (await checkpoints?.latest()) ?? null;
    if (checkpoint !== null) {
      checkFingerprint(checkpoint, this.#fingerprint, this.#settings);
      checkPosition(checkpoint, method.stages, this.#batchesPerEpoch, parent?.step ?? 0);
    }
    let opened = false;
    try {
      this.#student = await this.#options.openStudent(checkpoint?.folder ?? null);
      opened = true;
      let position: Position = checkpoint?.state.position ?? this.#beginning(0);
      this.#step = checkpoint?.state.step ?? parent?.step ?? 0;
      this.#steps = this.#step + this.#batchesFrom(position);
      this.#checkpoints.begin(this.#student, this.#step);
      this.#skipped = { batches: 0, technical: 0, noTurn: 0 };
      this.#depth = checkpoint === null ? parent?.depth : checkpoint.state.depth;
      await this.#emit({
        type: "start",
        method: method.id,
        units: data.units.length,
        unit: data.unit,
        batchSize,
        steps: this.#steps,
        teacher: this.#teacher?.info ?? null,
        student: this.#student.info,
        parent: parent === undefined ? null : { name: parent.name, step: parent.step },
        resumedFrom: checkpoint === null ? null : this.#step,
        ...(this.#budget === null ? {} : { spent: this.#budget.spent() }),
      });
      for (const { name, reason } of checkpoint?.damaged ?? []) {
        await this.#emit({ type: "damaged", step: this.#step, checkpoint: name, reason });
      }
      await this.#evaluations.goOnFrom(this.#step, checkpoint?.state.evaluation);
      this.#lookedAt = null;
      await this.#lookIfDue();
      const measured = await this.#evaluate();
      if (measured && checkpoint !== null) await this.#checkpoint(position, position);
      for (let stage = position.stage; stage < method.stages.length; stage += 1) {
        const finished = await this.#runStage(method.stages[stage]!, { ...position, stage });
        if (!finished) return this.#result(false);
        position = this.#beginning(stage + 1);
      }
      if (this.#skipped.batches > 0 && this.#step === (parent?.step ?? 0)) {
        throw new InputError(`no step was taken: ${noStepReason(this.#skipped)}`);
      }
      // Stopped in the last evaluation: it is made when the run goes on.
      if (this.#evaluations.isDue(this.#step, this.#steps)) {
        await this.#stopped(position);
        return this.#result(false);
      }
      await this.#lastLook();
      await this.#emit({ type: "done", step: this.#step, seconds: this.#seconds() });
      return this.#result(true);
    } catch (error) {
      if (opened) this.#student.dispose();
      if (error instanceof DeviceError) return error;
      throw error;
    }
  }

  #result(finished: boolean): TrainResult {
    const kept = this.#checkpoints.beside();
    return { student: this.#student, step: this.#step, finished, overBudget: this.#overBudget, kept };
  }

  /** @returns false when the run was asked to stop, or its budget ended it, before its last step */
  async #runStage(stage: Stage, from: Position): Promise<boolean> {
    const { name, epochs, firstEpoch = 0, evidence, signal } = stage;
    const end = firstEpoch + epochs;
    if (from.epoch < end) {
      const compared = signal === undefined ? {} : { signal };
      await this.#emit({ type: "stage", stage: from.stage, name, epochs, evidence, ...compared });
    }
    let { batch } = from;
    for (let epoch = from.epoch; epoch < end; epoch += 1) {
      const { data, batchSize, seed } = this.#options;
      const batches = epochBatches(data.tasks, batchSize, seed, from.stage, epoch);
      const repeating = batches.filter((places) => repeatedTasks(places, data.tasks) > 0).length;
      await this.#emit({ type: "epoch", stage: from.stage, epoch, batches: batches.length, repeating });
      for (; batch < batches.length; batch += 1) {
        const next = { stage: from.stage, epoch, batch };
        if (this.#options.stop?.aborted) return this.#stopped(next);
        if (this.#budget?.wouldPass(this.#evaluations.isDue(this.#step + 1, this.#steps))) {
          this.#overBudget = true;
          return this.#stopped(next);
        }
        this.#budget?.begin();
        await this.#runBatch(stage, next, batches[batch]!, batches.length);
        this.#budget?.end();
      }
      batch = 0;
    }
    return true;
  }

  async #stopped(next: Position): Promise<false> {
    if (!this.#checkpoints.covers(this.#step)) await this.#checkpoint(next, next, true);
    await this.#look();
    const budget = this.#overBudget ? this.#budget : null;
    await this.#emit({
      type: "stopped",
      step: this.#step,
      steps: this.#steps,
      seconds: this.#seconds(),
      ...(budget === null ? {} : { budget: { seconds: budget.seconds, spent: budget.spent() } }),
    });
    return false;
  }

  async #runBatch(stage: Stage, at: Position, places: number[], batches: number): Promise<void> {
    const { data, codec, signal, settings, sources = async () => [] } = this.#options;
    signal?.throwIfAborted();
    const began = performance.now();
    const here = { step: this.#step + 1, ...at };
    const { group = 1 } = stage.reward ?? {};
    const played = places.slice(0, groupsIn(places.length, group));
    const units = played.map((place) => data.units[place]!);
    await this.#emit({
      type: "step",
      ...here,
      batches,
      units,
      repeatedTasks: repeatedTasks(played, data.tasks),
    });

    const update = this.#updateOf(stage, at);
    const plan = samplingPlan(stage, update.update, this.#average(at.stage), sources);
    const context: RolloutContext = {
      policyVersion: this.#step,
      student: this.#student,
      codec,
      signal,
      plan,
    };
    const episodes = await data.episodes(places, {
      ...context,
      onProgress: (progress) => this.#work("rollout", progress),
    });
    if (data.fresh) {
      const figures = rolloutFigures(episodes, plan);
      await this.#emit({ type: "rollout", ...here, ...figures, seconds: secondsSince(began) });
    }
    const taken = episodes.filter((episode) => !brokeOff(episode) && !hadNoTurn(episode));
    const rows = batchRows(taken, codec);
    const kept = rows.length === 0 ? [] : taken;
    if (kept.length < episodes.length) await this.#leaveOut(episodes, kept, here);
    if (kept.length === 0) {
      if (this.#step !== this.#steps) return;
      const measured = await this.#evaluate();
      if (measured || !this.#checkpoints.covers(this.#step))
        await this.#checkpoint(at, after(at, batches), true);
      return;
    }
    const items = await this.#stageItems(stage, rows, kept, update, here, context);
    const updating = performance.now();
    const report = await this.#student.step(items, settings, {
      signal,
      onProgress: (progress) => this.#work("student", progress),
    });
    const updateSeconds = secondsSince(updating);
    this.#step += 1;
    // Steps that are only taken again do not count: a fault that comes back at one step must end the run.
    if (this.#step > this.#furthest) this.#faults = 0;
    this.#furthest = Math.max(this.#furthest, this.#step);
    const metrics = stepMetrics(items, report);
    await this.#options.onBatch?.(batchTokens(this.#step, items, report));
    const seconds = secondsSince(began);
    await this.#emit({
      type: "updated",
      ...here,
      metrics,
      seconds,
      updateSeconds,
      tokensPerSecond: metrics.tokens / seconds,
    });

    const last = this.#step === this.#steps;
    // After the last step comes the last look, once its checkpoint is made or will be.
    if (!last) await this.#lookIfDue();
    const measured = await this.#evaluate();
    if (measured || last || this.#checkpoints.isDue(this.#step))
      await this.#checkpoint(here, after(at, batches), last);
  }

  /** The position of a batch in its stage. */
  #updateOf({ epochs, firstEpoch = 0 }: Stage, { epoch, batch }: Position): StageUpdate {
    return {
      update: epoch * this.#batchesPerEpoch + batch,
      updates: (firstEpoch + epochs) * this.#batchesPerEpoch,
    };
  }

  /** The running average of a stage's adaptive depth; null before its first probe. */
  #average(stage: number): number | null {
    return this.#depth?.stage === stage ? this.#depth.average : null;
  }

  /** The batch as its stage has it: scored, weighed, and with what joins it. */
  async #stageItems(
    stage: Stage,
    rows: readonly Row[],
    episodes: readonly Episode[],
    update: StageUpdate,
    at: Position & { step: number },
    context: RolloutContext,
  ): Promise<TrainItem[]> {
    const { signal } = this.#options;
    const own = asksTeacher(stage) ? await this.#score(stage, rows, at) : unscoredItems(rows, stage);
    const student = readsStudent(stage) ? await studentLogprobs(rows, this.#student, signal) : [];
    const scored = rows.map(
      (row, n): ScoredRow => ({
        row,
        student: student[n]!,
        teacher: own[n]!.teacherLogprobs!,
      }),
    );
    if (stage.sampling?.kind === "adaptive-depth" && isProbe(stage.sampling, update.update)) {
      const before = this.#average(at.stage);
      const average = depthAfterProbe(stage.sampling, before, probedEpisodes(episodes, scored));
      this.#depth = { stage: at.stage, average };
    }
    const items = stageItems(own, student, episodes, stage, update);
    const bridged = stage.bridge === undefined ? [] : await this.#bridge(stage, scored, at, context);
    return balancedItems(withBridges(items, bridged), stage, update);
  }

  async #score(stage: Stage, rows: readonly Row[], at: Position & { step: number }): Promise<TrainItem[]> {
    const { signal, contexts } = this.#options;
    const scoring = performance.now();
    const teacher = this.#asked();
    // A run that goes on has kept nothing of earlier steps, and has to arrive at the same numbers.
    teacher.forget?.();
    const { items, scored } = await scoreBatch(rows, stage, teacher, contexts, {
      signal,
      onProgress: (progress) => this.#work("teacher", progress),
    });
    await this.#emit({ type: "scored", ...at, ...scored, seconds: secondsSince(scoring) });
    return items;
  }

  /** @throws InputError where the run has no teacher */
  #asked(): Scorer {
    if (this.#teacher === null) throw new InputError("missing: a stage asks the teacher", { key: "teacher" });
    return this.#teacher;
  }

  /** The bridges that join the batch, with the teacher's log-probabilities of them. */
  async #bridge(
    stage: Stage,
    scored: readonly ScoredRow[],
    at: Position & { step: number },
    context: RolloutContext,
  ): Promise<TrainItem[]> {
    const { data, seed, contexts, signal } = this.#options;
    const began = performance.now();
    let playSeconds = 0;
    const onPlayed = (): void => {
      playSeconds = secondsSince(began);
    };
    const judged = await bridges(scored, stage.bridge!, this.#asked(), data, { ...context, seed, onPlayed });
    const those = (verdict: string) => judged.filter((each) => each.verdict === verdict);
    const accepted = those("accepted").map(({ row }) => row);
    const { items } = await scoreBatch(accepted, stage, this.#asked(), contexts, { signal });
    const seconds = secondsSince(began);
    await this.#emit({
      type: "bridged",
      ...at,
      ...{ accepted: accepted.length, refused: those("refused").length, invalid: those("invalid").length },
      ...{ seconds, playSeconds, scoreSeconds: seconds - playSeconds },
    });
    return items;
  }

  /** Measures the student where that is due. */
  #evaluate(): Promise<boolean> {
    const measure = () => this.#evaluations.measure(this.#student, this.#step, this.#steps);
    return this.#budget === null ? measure() : this.#budget.evaluation(measure);
  }

  /** Looks at the watched decisions before the first step of the run, and after every so many. */
  async #lookIfDue(): Promise<void> {
    const { watch, parent } = this.#options;
    if (watch === undefined) return;
    if (this.#step === (parent?.step ?? 0) || this.#step % watch.every === 0) await this.#look();
  }

  async #look(): Promise<void> {
    const { watch, signal } = this.#options;
    if (watch === undefined || this.#lookedAt === this.#step) return;
    this.#lookedAt = this.#step;
    await this.#emit(await lookAtWatched(this.#student, this.#step, watch, signal));
  }

  /**
   * The look after the last step. A cancel ends that look alone where the student is kept beside what follows: nothing else
   * is left to end, and the steps since the checkpoint before would be lost.
   */
  async #lastLook(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      if (!this.#checkpoints.isLeft || error !== this.#options.signal?.reason) throw error;
    }
  }

  /** Says which episodes are not part of the update, and why. A batch of no other takes no step. */
  async #leaveOut(
    episodes: readonly Episode[],
    kept: readonly Episode[],
    at: Position & { step: number },
  ): Promise<void> {
    const left = episodes.filter((episode) => !kept.includes(episode));
    const noTurn = left.filter((episode) => !brokeOff(episode)).length;
    if (kept.length === 0) {
      this.#steps -= 1;
      this.#skipped.batches += 1;
      this.#skipped.technical += left.length - noTurn;
      this.#skipped.noTurn += noTurn;
    }
    await this.#emit({
      type: "excluded",
      ...at,
      episodes: excludedEpisodes(left),
      of: episodes.length,
      steps: this.#steps,
    });
  }

  async #checkpoint(at: Position, next: Position, last = false): Promise<void> {
    const [step, evaluation] = [this.#step, this.#evaluations.at(this.#step)];
    const state = { step, at, next, depth: this.#depth, evaluation };
    await (last ? this.#checkpoints.saveLast(state) : this.#checkpoints.save(state));
    // What is kept is never lost again: the run has come further.
    if (this.#checkpoints.step === step) this.#faults = 0;
  }

  async #emit(event: TrainEvent): Promise<void> {
    await this.#options.onEvent?.(event);
  }

  #work(what: StepWork["what"], progress: { done: number; total: number; unit: string }): void {
    this.#options.onWork?.({ what, ...progress });
  }

  #seconds(): number {
    return secondsSince(this.#started);
  }
}

const secondsSince = (began: number): number => (performance.now() - began) / 1000;

/** The next batch of an epoch that has so many. */
function after({ stage, epoch, batch }: Position, batches: number): Position {
  return batch + 1 === batches ? { stage, epoch: epoch + 1, batch: 0 } : { stage, epoch, batch: batch + 1 };
}
