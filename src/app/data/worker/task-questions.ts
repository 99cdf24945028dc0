/**
 * Questions about one task of an open library: its executions, the retrieval and evidence of a decision, what the teacher
 * reads, and the records themselves. Which libraries are open, and where their tasks are kept, is the service's.
 */
import { InputError } from "../../../core/errors.ts";
import type { EvidencePart, WhatIf } from "../../../core/evidence/index.ts";
import { type GateCase, type GateContext, gateCase } from "../../../core/gate/index.ts";
import { Lru } from "../../../core/lru.ts";
import { type Episode, hasPrompt, type Source, type SourceDecision } from "../../../core/record/schema.ts";
import {
  isOfUnknownOutcome,
  type Pin,
  type PinKind,
  retrieve,
  retrieveEpisode,
} from "../../../core/retrieval/index.ts";
import type { Selection, SourceSelection } from "../../../core/retrieval/selection.ts";
import {
  type ResponseOptions,
  type TokenizerHashes,
  type TokenizerTexts,
  textCodec,
} from "../../../text/index.ts";
import { describeFault } from "../../base/faults.ts";
import type { ComparedVisit } from "../../url/place.ts";
import { evidenceDiff } from "../library/evidence-diff.ts";
import type { RoleTexts, TokenizerFit } from "../library/role-tokenizers.ts";
import type {
  DecisionModel,
  FullMethod,
  LeftOutContext,
  OptimalDecision,
  PresentContext,
  RetainedRelations,
  ScorePair,
  TaskModel,
  TaskName,
  TaskRef,
  TokenCounts,
  VisitComparison,
} from "../model.ts";
import { compareVisits } from "./compare-visits.ts";
import type { KeptTask } from "./kept-tasks.ts";
import { OpenTokenizers, type Writer } from "./open-tokenizers.ts";
import { playedTask } from "./played-task.ts";
import type { TaskRecords } from "./record-library.ts";
import type { RecordedScores } from "./recorded-scores.ts";
import { endsTurn, foreignIds, recordedTokens } from "./recorded-tokens.ts";
import { taskModel } from "./task-model.ts";
import { type Reading, TeacherContext } from "./teacher-context.ts";

/** Kept for each task: the decision on the screen and those prepared beside it, with and without a what-if. */
const KEPT_CONTEXTS = 8;

/** As whose ids a decision is read, and how. */
type Asked = Pick<ResponseOptions, "endOfTurn"> & { by?: Writer };

/** The open libraries, as far as questions need them. */
export interface OpenTasks {
  /**
   * A task with the executions of a selection, read and prepared.
   *
   * @throws InputError for a library that is not open, and for a task that it does not have
   */
  kept(ref: TaskRef, selection: SourceSelection): Promise<KeptTask>;
  /** The scores that were recorded beside a library's episodes. @throws InputError when it is not open */
  recorded(library: string): RecordedScores;
  /** Planner records of a task that came beside the library's own. @throws InputError when it is not open */
  plans(ref: TaskRef): readonly Source[];
}

export class TaskQuestions {
  readonly tokenizers = new OpenTokenizers();
  /** The latest decisions of each kept task, as the tokenizers that are open read them. */
  #contexts = new WeakMap<KeptTask, Lru<TeacherContext>>();
  readonly #open: OpenTasks;

  constructor(open: OpenTasks) {
    this.#open = open;
  }

  /** The task view's data, of the executions that take part. */
  async task(
    ref: TaskRef,
    { sourcesPerTask, augmentation, subset, without }: SourceSelection = {},
  ): Promise<TaskModel> {
    const selection = { sourcesPerTask, augmentation, subset, without };
    const { records, prepared } = await this.#kept(ref, selection);
    for (const id of without ?? []) {
      if (!records.sources.some(({ source }) => source === id)) {
        throw new InputError(`Task ${ref.task} has no execution ${id} that could be switched off.`);
      }
    }
    return {
      library: ref.library,
      ...taskModel(prepared.graph, ref, records.episodes),
      selection,
      leftOut: records.sources.length - prepared.graph.sources.length,
    };
  }

  /**
   * The graph of executions that were played in the page, with those that a library has of the task. The last of them is
   * the one that is played now.
   */
  async playedTask(ref: TaskRef | null, played: readonly Source[]): Promise<TaskModel> {
    const recorded = ref === null ? [] : (await this.#kept(ref)).records.sources;
    return { library: ref?.library ?? "", ...playedTask(recorded, played), selection: {}, leftOut: 0 };
  }

  /** Why a reference cannot be chosen by hand, in one line; null when it can. */
  async pinProblem(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: WhatIf,
    kind: PinKind,
    pin: Pin,
  ): Promise<string | null> {
    const { records, prepared } = await this.#kept(ref, selection);
    const episode = findEpisode(records, episodeId);
    try {
      retrieve(prepared, episode, decision, kind === "success" ? { pin } : { pinFailure: pin });
      return null;
    } catch (error) {
      return describeFault(error);
    }
  }

  /** Retrieval and evidence for one decision. Throws `InputError` when there is none with that name. */
  async decision(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: WhatIf = {},
    { endOfTurn = true }: ResponseOptions = {},
  ): Promise<DecisionModel> {
    const context = await this.#context(ref, episodeId, decision, selection, { endOfTurn });
    const { episode, retrieval } = context;
    const recorded = episode.decisions[decision]!;
    const { observation, action, status, feedback, prompt, response } = recorded;
    const model = {
      ...ref,
      episode: episodeId,
      decision,
      selection,
      endOfTurn,
      retrieval: { record: retrieval.record, explanation: retrieval.explanation },
      observation,
      action,
      status,
      feedback,
      prompt: prompt ?? null,
      prompted: hasPrompt(recorded),
      response: response ?? null,
      recorded: await recordedTokens(
        episode,
        decision,
        this.#open.recorded(ref.library),
        this.tokenizers.all(),
      ),
      ...context.counted(),
    };
    return { ...model, full: await this.#full(model) };
  }

  /** How the references of each decision of an episode are found, in order. */
  async retained(ref: TaskRef, episodeId: string, selection: Selection): Promise<RetainedRelations[]> {
    const { records, prepared } = await this.#kept(ref, selection);
    return retrieveEpisode(prepared, findEpisode(records, episodeId), selection).map(
      ({ record: { success, failure } }) => ({
        success: success?.relation ?? null,
        failure: failure?.relation ?? null,
        // An explanation says so, too, but takes long for a whole episode.
        unknownOutcome: isOfUnknownOutcome(failure, prepared),
      }),
    );
  }

  /** The same decision without what was changed, and what the change does to its evidence. */
  async #full(changed: Omit<DecisionModel, "full">): Promise<FullMethod | null> {
    if (Object.keys(changed.selection).length === 0) return null;
    const { library, environment, task, endOfTurn } = changed;
    const ref = { library, environment, task };
    const full = await this.decision(ref, changed.episode, changed.decision, {}, { endOfTurn });
    const { retrieval, evidence, counts } = full;
    return { retrieval, evidence, counts, diff: evidenceDiff(evidence.text, changed.evidence.text) };
  }

  /**
   * The two teacher contexts of one decision and the response that both score, in the ids of one model's tokenizer. A
   * further model has that of `setOtherTokenizer`, which encodes the recorded texts.
   */
  async pair(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: WhatIf = {},
    asked: Asked = {},
  ): Promise<ScorePair> {
    const pair = (await this.#context(ref, episodeId, decision, selection, asked)).pair();
    const byTeacher = (asked.by ?? "teacher") === "teacher";
    return { ...pair, studentProblem: byTeacher ? this.tokenizers.studentProblem(pair) : null };
  }

  /** One decision whose optimal actions are known, ready to be scored by the teacher under each of some contexts. */
  async gateCase(
    { episode: id, decision, optimal, ...ref }: TaskRef & OptimalDecision,
    selection: SourceSelection,
    contexts: readonly GateContext[],
  ): Promise<GateCase> {
    const { records, prepared } = await this.#kept(ref, selection);
    const { tokenizer, episode } = this.#readBy("teacher", findEpisode(records, id), decision, true);
    // No fault of the decision: a teacher is opened with its tokenizer.
    if (tokenizer === null) throw new Error("no tokenizer is open");
    return gateCase(prepared, episode, { decision, optimal: [...optimal] }, textCodec(tokenizer), contexts);
  }

  #kept(ref: TaskRef, selection: SourceSelection = {}): Promise<KeptTask> {
    return this.#open.kept(ref, selection);
  }

  /** One decision under a selection, as one model reads it: the same one again while its task is kept. */
  async #context(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: WhatIf,
    { by = "teacher", endOfTurn = true }: Asked,
  ): Promise<TeacherContext> {
    const kept = await this.#kept(ref, selection);
    const contexts = this.#contexts.get(kept) ?? new Lru<TeacherContext>(KEPT_CONTEXTS);
    this.#contexts.set(kept, contexts);
    return contexts.getOrMake(JSON.stringify([episodeId, decision, selection, by, endOfTurn]), () => {
      const episode = findEpisode(kept.records, episodeId);
      const reading = (): Reading => this.#readBy(by, episode, decision, endOfTurn);
      return new TeacherContext(kept.prepared, episode, decision, selection, reading);
    });
  }

  /**
   * An episode as a model's tokenizer reads it: ids and numbers of tokens that another one wrote are left out, so that texts
   * are encoded. The open tokenizer that recorded it then decides whether the response ends its turn.
   */
  #readBy(by: Writer, episode: Episode, decision: number, endOfTurn: boolean): Reading {
    const tokenizer = this.tokenizers.of(by);
    const recorded = episode.decisions[decision]!;
    const own = { tokenizer, episode, note: null, endOfTurn };
    if (tokenizer === null) return own;
    const ownWords = by === "other" && tokenizer !== this.tokenizers.of("teacher");
    const foreign = foreignIds(tokenizer, recorded);
    const { response_ids: ids, rollout_logprobs: drawn } = recorded;
    const counted = ids === undefined && drawn !== undefined;
    const fits = !foreign && !(counted && endsTurn([tokenizer], recorded) === null);
    if (fits && !ownWords) return own;
    const ended = endsTurn(this.tokenizers.all(), recorded);
    // A number that fits no tokenizer is refused where the response is read.
    if (!foreign && !ownWords && ended === null) return own;
    const note = foreign
      ? `The recorded token ids are not of ${tokenizer.file}: the recorded texts are encoded with it.`
      : null;
    return { tokenizer, episode: asTexts(episode), note, endOfTurn, ended: ended ?? undefined };
  }

  /** Lengths in tokens of both contexts of a decision and of its response. */
  async contextLengths(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: Selection = {},
    options: ResponseOptions = {},
  ): Promise<Pick<TokenCounts, "vanilla" | "graph" | "response">> {
    const pair = await this.pair(ref, episodeId, decision, selection, options);
    const { vanillaIds, graphIds, responseIds } = pair;
    return { vanilla: vanillaIds.length, graph: graphIds.length, response: responseIds.length };
  }

  /** The graph-conditioned context without each record of its evidence, or without each event of one record. */
  async leftOut(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: WhatIf,
    record: EvidencePart["record"] | null,
    options: ResponseOptions = {},
  ): Promise<LeftOutContext[]> {
    return (await this.#context(ref, episodeId, decision, selection, options)).leftOut(record);
  }

  /**
   * What the teacher reads before the last decision of an episode, which nobody has made yet: its prompt with the evidence
   * that the library has for it. The episode itself has no end, so that its own execution is not part of the evidence.
   */
  async presentContext(ref: TaskRef, episode: Episode): Promise<PresentContext> {
    const { prepared } = await this.#kept(ref);
    const decision = episode.decisions.length - 1;
    const whatIf: WhatIf = { leaveOut: [{ record: "student", event: null }] };
    const { tokenizer } = this.tokenizers;
    const reading: Reading = { tokenizer, episode, note: null, endOfTurn: false };
    const context = new TeacherContext(prepared, episode, decision, whatIf, () => reading);
    const { evidence, promptIds } = context.graph();
    return { promptIds, evidence: evidence.text, sentence: context.retrieval.explanation.sentence };
  }

  /** Decision j of a source; null for its terminal visit. Throws `InputError` when there is no such visit. */
  async visit(ref: TaskRef, sourceId: string, position: number): Promise<SourceDecision | null> {
    const { records } = await this.#kept(ref);
    const source = records.sources.find((each) => each.source === sourceId);
    if (source === undefined) throw new InputError(`Task ${ref.task} has no execution ${sourceId}.`);
    const { length } = source.decisions;
    if (position > length) {
      throw new InputError(`Execution ${sourceId} has no visit ${position}: they go from 0 to ${length}.`);
    }
    return source.decisions[position] ?? null;
  }

  /** Two visits beside each other. Throws `InputError` where one is not there. */
  async compare(ref: TaskRef, visits: readonly [ComparedVisit, ComparedVisit]): Promise<VisitComparison> {
    return compareVisits((await this.#kept(ref)).records, visits);
  }

  /** One episode as it was recorded. */
  async episode(ref: TaskRef, episodeId: string): Promise<Episode> {
    return findEpisode((await this.#kept(ref)).records, episodeId);
  }

  /** The episodes of one task that have a decision to train on. */
  async episodeIds(ref: TaskRef): Promise<string[]> {
    const { episodes } = (await this.#kept(ref)).records;
    return episodes.filter(({ decisions }) => decisions.length > 0).map(({ episode }) => episode);
  }

  /**
   * Episodes and the sources of their tasks as JSON Lines, each record once: what a run elsewhere reads. A name without an
   * episode stands for the sources alone.
   */
  async recordLines(
    library: string,
    names: readonly (TaskName & { episode?: string })[],
  ): Promise<{ episodes: Blob; sources: Blob }> {
    const lines = (records: readonly object[]) =>
      new Blob(records.map((record) => `${JSON.stringify(record)}\n`));
    const episodes: Blob[] = [];
    const sources: Blob[] = [];
    let before = "";
    for (const name of names) {
      const ref = { ...name, library };
      if (ref.episode !== undefined) episodes.push(lines([await this.episode(ref, ref.episode)]));
      const task = JSON.stringify([ref.environment, ref.task]);
      // Those of one task are neighbours.
      if (task !== before) sources.push(lines(await this.sources(ref)));
      before = task;
    }
    return { episodes: new Blob(episodes), sources: new Blob(sources) };
  }

  /** The names of a task's sources. */
  async sourceIds(ref: TaskRef): Promise<string[]> {
    return (await this.sources(ref)).map(({ source }) => source);
  }

  /** D_x: the sources of one task; none where the library has none. `plans` adds the planner records beside it. */
  async sources(ref: TaskRef, { plans = false } = {}): Promise<Source[]> {
    const { sources } = (await this.#kept(ref)).records;
    return plans ? [...sources, ...this.#open.plans(ref)] : sources;
  }

  /** The models' tokenizers from now on. Throws `InputError` for files that make none; those before stay. */
  setTokenizers(texts: RoleTexts): TokenizerFit {
    this.#contexts = new WeakMap();
    return this.tokenizers.set(texts);
  }

  /** Hashes of the teacher's tokenizer's files; null while none is open. */
  tokenizerHashes(): TokenizerHashes | null {
    return this.tokenizers.hashes();
  }

  /** The tokenizer of a further model, for `pair` by `other`; its hashes, or null where it reads the same ids. */
  setOtherTokenizer(texts: TokenizerTexts): TokenizerHashes | null {
    this.#contexts = new WeakMap();
    return this.tokenizers.setOther(texts);
  }

  /** The texts of token ids, as they are shown. */
  tokenTexts(ids: readonly number[], writer: Writer): string[] {
    return this.tokenizers.texts(ids, writer);
  }
}

/** The episode with its texts alone. */
function asTexts(episode: Episode): Episode {
  const decisions = episode.decisions.map(
    ({ prompt_ids: _, response_ids: __, rollout_logprobs: ___, ...rest }) => rest,
  );
  return { ...episode, decisions };
}

function findEpisode(records: TaskRecords, id: string): Episode {
  const episode = records.episodes.find((candidate) => candidate.episode === id);
  if (episode === undefined) throw new InputError(`task ${records.task} has no episode ${id}`);
  return episode;
}
