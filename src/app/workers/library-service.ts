/**
 * Records, retrieval and evidence, off the drawing thread. One library is open at a time; it is replaced only when the
 * next one has been read whole without a fault.
 */
import { customEnvironmentNote, isCustomEnvironment } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import {
  type Evidence,
  type EvidencePart,
  renderEvidence,
  type WhatIf,
  whatIfInput,
} from "../../core/evidence/index.ts";
import { blobFiles, runImport } from "../../core/record/import/index.ts";
import { readRecords } from "../../core/record/read.ts";
import type { Episode, Source, SourceDecision } from "../../core/record/schema.ts";
import { type Pin, type PinKind, retrieve } from "../../core/retrieval/index.ts";
import type { Selection, SourceSelection } from "../../core/retrieval/selection.ts";
import { CHARACTERS, type LibraryStatistics, StatisticsCollector } from "../../core/statistics/index.ts";
import type { TokenizerHashes, TokenizerTexts } from "../../text/index.ts";
import { compareVisits } from "../library/compare-visits.ts";
import { evidenceDiff } from "../library/evidence-diff.ts";
import { type KeptTask, KeptTasks } from "../library/kept-tasks.ts";
import { OpenTokenizers } from "../library/open-tokenizers.ts";
import { countAll, importedLines, type OnProgress, throttled } from "../library/opening.ts";
import { withoutCommonFolder } from "../library/path-files.ts";
import {
  indexBlob,
  type OpenOptions,
  openRecordFile,
  type RecordInput,
  spooled,
} from "../library/record-file.ts";
import { RecordLibrary, type TaskRecords } from "../library/record-library.ts";
import { RecordedScores } from "../library/recorded-scores.ts";
import { recordedTokens } from "../library/recorded-tokens.ts";
import { ColumnCounter, emptyColumns } from "../library/task-columns.ts";
import { taskModel } from "../library/task-model.ts";
import { TeacherContext } from "../library/teacher-context.ts";
import { tokenMeter } from "../library/token-meter.ts";
import type {
  ColumnBatch,
  DecisionModel,
  FullMethod,
  LeftOutContext,
  LibrarySummary,
  ScorePair,
  TaskModel,
  TaskRef,
  TokenCounts,
  VisitComparison,
} from "../model.ts";

import type { ComparedVisit } from "../place/place.ts";
import { describeFault } from "../session/faults.ts";

/** Libraries of up to so many bytes are checked in full, and counted, before they are shown. */
const CHECK_WHOLE = 24 << 20;

/** Files from this size on are worth an index beside them, as for the commands. */
const KEEP_FROM = 16 << 20;

type About = Pick<LibrarySummary, "title" | "origin" | "imported">;

const NO_EVIDENCE: Evidence = { text: "", spans: [], backReferences: false };

export class LibraryService {
  #library: RecordLibrary | null = null;
  #scores = new RecordedScores();
  #counter: ColumnCounter | null = null;
  #onColumns: (batch: ColumnBatch) => void = () => {};
  #tasks: KeptTasks | null = null;
  readonly #tokenizers = new OpenTokenizers();
  /** Number of the counting of statistics that is under way. */
  #counting = 0;
  #opening: AbortController | null = null;

  /** Who is told of newly counted columns. */
  onColumns(emit: (batch: ColumnBatch) => void): void {
    this.#onColumns = emit;
  }

  /**
   * Reads files and makes them the open library. `scores` are lines of `{ id, logprobs }`. Throws `InputError`, or an
   * AbortError when it was stopped; what was open before then stays open.
   */
  async open(
    inputs: readonly RecordInput[],
    scores: readonly { name: string; blob: Blob }[],
    about: Omit<About, "imported">,
    onProgress: OnProgress,
    fetcher?: typeof fetch,
  ): Promise<LibrarySummary> {
    return this.#stoppable(async (signal) => {
      const options: OpenOptions = { signal, ...(fetcher === undefined ? {} : { fetch: fetcher }) };
      const tell = throttled(onProgress);
      options.onProgress = ({ file, bytes, total }) =>
        tell({ label: `Indexing ${file}`, done: bytes, total: total ?? 0, unit: "bytes" });
      const files = [];
      for (const input of inputs) files.push(await openRecordFile(input, options));
      const recorded = new RecordedScores();
      for (const { name, blob } of scores) {
        for await (const { record } of readRecords(blob.stream(), {
          file: name,
          signal,
          kind: "score-output",
        })) {
          recorded.add(record, name);
        }
      }
      return this.#replace(new RecordLibrary(files), recorded, { ...about, imported: null }, tell, signal);
    });
  }

  /**
   * Reads other programs' recordings, as `gcopd import` does, and makes them the open library. Throws `InputError` when
   * the format is not known or the first fault is met; what was open before then stays open.
   */
  async import(
    entries: readonly { path: string; file: Blob }[],
    onProgress: OnProgress,
    choice: { environment?: string } = {},
  ): Promise<LibrarySummary> {
    return this.#stoppable(async (signal) => {
      const { folder, files } = withoutCommonFolder(entries);
      const { importer, records, report } = await runImport(blobFiles(files), { ...choice, signal });
      const name = folder !== "" ? folder : files.length === 1 ? files[0]!.path : `${files.length} files`;
      const tell = throttled(onProgress);
      const recorded = new RecordedScores();
      const file = await spooled(importedLines(records, recorded, name, tell), name, null, { signal });
      const title = `${name} (${importer.name})`;
      return this.#replace(
        new RecordLibrary([file]),
        recorded,
        { title, origin: "own", imported: report },
        tell,
        signal,
      );
    });
  }

  /** Stops an opening that is under way. */
  stopOpening(): void {
    this.#opening?.abort(new DOMException("the opening was stopped", "AbortError"));
  }

  async #stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#opening = controller;
    try {
      return await work(controller.signal);
    } finally {
      this.#opening = null;
    }
  }

  async #replace(
    library: RecordLibrary,
    scores: RecordedScores,
    about: About,
    tell: OnProgress,
    signal: AbortSignal,
  ): Promise<LibrarySummary> {
    const small = library.bytes <= CHECK_WHOLE && !library.remote;
    const columns = small ? await countAll(library, tell, signal) : emptyColumns(library.tasks.length);
    const notes = library.files.flatMap((file) => file.notes);
    const strangers = scores.count === 0 ? 0 : scores.strangers(library.episodeDecisions());
    if (strangers > 0) {
      notes.push(`${strangers} of ${scores.count} recorded score lists name no decision of these episodes.`);
    }
    this.#counter?.end();
    this.#counting += 1;
    this.#library = library;
    this.#scores = scores;
    this.#tasks = new KeptTasks(library);
    this.#counter = small ? null : new ColumnCounter(library, (batch) => this.#onColumns(batch));
    const environments = new Set(library.tasks.map(({ environment }) => environment));
    return {
      ...about,
      files: library.fileSummaries,
      tasks: library.tasks,
      columns,
      remote: library.remote,
      bytes: library.bytes,
      indices: library.files.map(({ name, indexed, original, reader }) => ({
        file: name,
        from: indexed,
        keep: original && indexed === "built" && reader.size >= KEEP_FROM,
      })),
      notes,
      recordedScores: scores.count,
      environmentNotes: [...environments].filter(isCustomEnvironment).map(customEnvironmentNote),
    };
  }

  /** The tasks in sight, by place: their columns are counted next. */
  countColumns(places: readonly number[]): void {
    this.#counter?.want(places);
  }

  /** The columns of all tasks are wanted. */
  countAllColumns(): void {
    this.#counter?.wantAll();
  }

  /** The index of one of the open files, as `gcopd index` writes it. */
  async indexFile(name: string): Promise<Blob> {
    const file = this.#library?.files.find((each) => each.name === name && each.original);
    if (file === undefined) throw new InputError("is not open any more", { file: name });
    return indexBlob(file);
  }

  /** The task view's data, of the executions that take part. */
  async task(
    ref: TaskRef,
    { sourcesPerTask, augmentation, without }: SourceSelection = {},
  ): Promise<TaskModel> {
    const selection = { sourcesPerTask, augmentation, without };
    const { records, prepared } = await this.#task(ref, selection);
    for (const id of without ?? []) {
      if (!records.sources.some(({ source }) => source === id)) {
        throw new InputError(`Task ${ref.task} has no execution ${id} that could be switched off.`);
      }
    }
    return {
      ...taskModel(prepared.graph, ref, records.episodes),
      selection,
      leftOut: records.sources.length - prepared.graph.sources.length,
    };
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
    const { records, prepared } = await this.#task(ref, selection);
    const episode = findEpisode(records, episodeId);
    try {
      retrieve(prepared, episode, decision, kind === "success" ? { pin } : { pinFailure: pin });
      return null;
    } catch (error) {
      return describeFault(error);
    }
  }

  /** Retrieval and evidence for one decision. Throws `InputError` when there is none of that name. */
  async decision(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: WhatIf = {},
  ): Promise<DecisionModel> {
    const { records, prepared } = await this.#task(ref, selection);
    const episode = findEpisode(records, episodeId);
    const { record, explanation } = retrieve(prepared, episode, decision, selection);
    const input = whatIfInput(prepared, episode, record, selection);
    const { observation, action, status, feedback, prompt, response } = episode.decisions[decision]!;
    const model: DecisionModel = {
      ...ref,
      episode: episodeId,
      decision,
      selection,
      retrieval: { record, explanation },
      observation,
      action,
      status,
      feedback,
      prompt: prompt ?? null,
      response: response ?? null,
      evidence: input === null ? NO_EVIDENCE : renderEvidence(input),
      counts: null,
      countsProblem: null,
      recorded: await recordedTokens(episode, decision, this.#scores, this.#tokenizers.tokenizer),
      full: null,
    };
    try {
      const context = new TeacherContext(this.#tokenizers.tokenizer, prepared, episode, decision, selection);
      const { evidence, promptIds, evidenceTokens } = context.graph();
      const counts = {
        vanilla: context.vanillaIds.length,
        graph: promptIds.length,
        evidence: evidenceTokens,
        response: context.responseIds.length,
      };
      return { ...model, evidence, counts, full: await this.#full(model, evidence) };
    } catch (error) {
      const full = await this.#full(model, model.evidence);
      return { ...model, countsProblem: describeFault(error), full };
    }
  }

  /** The same decision without what was changed, and what the change does to its evidence. */
  async #full(
    { environment, task, episode, decision, selection }: DecisionModel,
    changed: Evidence,
  ): Promise<FullMethod | null> {
    if (Object.keys(selection).length === 0) return null;
    const { retrieval, evidence, counts } = await this.decision({ environment, task }, episode, decision);
    return { retrieval, evidence, counts, diff: evidenceDiff(evidence.text, changed.text) };
  }

  /**
   * The two teacher contexts of one decision and the response that both score. `other`: as the tokenizer of
   * `setOtherTokenizer` encodes the recorded texts; recorded ids are of the open one.
   */
  async pair(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: WhatIf = {},
    { other = false }: { other?: boolean } = {},
  ): Promise<ScorePair> {
    const { records, prepared } = await this.#task(ref, selection);
    const episode = findEpisode(records, episodeId);
    const foreign = other ? this.#tokenizers.other : null;
    return foreign === null
      ? new TeacherContext(this.#tokenizers.tokenizer, prepared, episode, decision, selection).pair()
      : new TeacherContext(foreign, prepared, withoutIds(episode), decision, selection).pair();
  }

  /** Lengths in tokens of both contexts of a decision and of its response. */
  async contextLengths(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: Selection = {},
  ): Promise<Pick<TokenCounts, "vanilla" | "graph" | "response">> {
    const { vanillaIds, graphIds, responseIds } = await this.pair(ref, episodeId, decision, selection);
    return { vanilla: vanillaIds.length, graph: graphIds.length, response: responseIds.length };
  }

  /** The graph-conditioned context without each record of its evidence, or without each event of one record. */
  async leftOut(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: WhatIf,
    record: EvidencePart["record"] | null,
  ): Promise<LeftOutContext[]> {
    const { records, prepared } = await this.#task(ref, selection);
    const episode = findEpisode(records, episodeId);
    return new TeacherContext(this.#tokenizers.tokenizer, prepared, episode, decision, selection).leftOut(
      record,
    );
  }

  /** Decision j of a source; null for its terminal visit. Throws `InputError` when there is no such visit. */
  async visit(ref: TaskRef, sourceId: string, position: number): Promise<SourceDecision | null> {
    const { records } = await this.#task(ref);
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
    return compareVisits((await this.#task(ref)).records, visits);
  }

  /** One episode as it was recorded. */
  async episode(ref: TaskRef, episodeId: string): Promise<Episode> {
    return findEpisode((await this.#task(ref)).records, episodeId);
  }

  /** The episodes of one task that have a decision to train on. */
  async episodeIds(ref: TaskRef): Promise<string[]> {
    const { episodes } = (await this.#task(ref)).records;
    return episodes.filter(({ decisions }) => decisions.length > 0).map(({ episode }) => episode);
  }

  /** Episodes and the sources of their tasks as JSON Lines, each record once: what a run elsewhere reads. */
  async recordLines(
    refs: readonly (TaskRef & { episode: string })[],
  ): Promise<{ episodes: Blob; sources: Blob }> {
    const lines = (records: readonly object[]) =>
      new Blob(records.map((record) => `${JSON.stringify(record)}\n`));
    const episodes: Blob[] = [];
    const sources: Blob[] = [];
    let before = "";
    for (const ref of refs) {
      episodes.push(lines([await this.episode(ref, ref.episode)]));
      const task = JSON.stringify([ref.environment, ref.task]);
      // Those of one task are neighbours.
      if (task !== before) sources.push(lines(await this.sources(ref)));
      before = task;
    }
    return { episodes: new Blob(episodes), sources: new Blob(sources) };
  }

  /** D_x: the sources of one task; none where the library has none. */
  async sources(ref: TaskRef): Promise<Source[]> {
    return (await this.#task(ref)).records.sources;
  }

  /**
   * The paper's figures of the whole library, under a selection; evidence in tokens when a tokenizer is open. Another
   * call, another library and `stopStatistics` end it with an AbortError.
   */
  async statistics(selection: Selection, onProgress: (tasks: number) => void): Promise<LibraryStatistics> {
    const library = this.#library;
    if (library === null) throw new InputError("no library is open");
    this.#counting += 1;
    const mine = this.#counting;
    const { tokenizer } = this.#tokenizers;
    const meter = tokenizer === null ? CHARACTERS : tokenMeter(tokenizer);
    const collector = new StatisticsCollector({ selection, meter });
    let slice = 0;
    for (let place = 0; place < library.tasks.length; place++) {
      collector.add(await library.read(place));
      if (performance.now() - slice < 12) continue;
      onProgress(place);
      // Other questions to this worker are answered in between.
      await new Promise((resolve) => setTimeout(resolve));
      if (mine !== this.#counting || library !== this.#library) {
        throw new DOMException("the counting was stopped", "AbortError");
      }
      slice = performance.now();
    }
    return collector.result();
  }

  stopStatistics(): void {
    this.#counting += 1;
  }

  /** The tokenizer that counts and scores from now on. Throws `InputError` for files that make none. */
  setTokenizer(texts: TokenizerTexts): void {
    this.#tokenizers.set(texts);
  }

  /** Hashes of the open tokenizer's files; null while none is open. */
  tokenizerHashes(): TokenizerHashes | null {
    return this.#tokenizers.hashes();
  }

  /** The tokenizer of a further model, for `pair` with `other`; its hashes, or null where it reads the same ids. */
  setOtherTokenizer(texts: TokenizerTexts): TokenizerHashes | null {
    return this.#tokenizers.setOther(texts);
  }

  /** The texts of token ids, as they are shown. */
  tokenTexts(ids: readonly number[], options?: { other?: boolean }): string[] {
    return this.#tokenizers.texts(ids, options);
  }

  async #task(ref: TaskRef, selection: SourceSelection = {}): Promise<KeptTask> {
    if (this.#tasks === null) throw new InputError("no library is open");
    this.#counter?.standBack();
    return this.#tasks.get(ref, selection);
  }
}

/** The episode with its texts alone. */
function withoutIds(episode: Episode): Episode {
  const decisions = episode.decisions.map(({ prompt_ids: _, response_ids: __, ...rest }) => rest);
  return { ...episode, decisions };
}

function findEpisode(records: TaskRecords, id: string): Episode {
  const episode = records.episodes.find((candidate) => candidate.episode === id);
  if (episode === undefined) throw new InputError(`task ${records.task} has no episode ${id}`);
  return episode;
}
