/**
 * Records, retrieval and evidence, off the drawing thread. Several libraries may be open, each by an id of its own; one
 * is open only when it has been read whole without a fault. Kept of each are the places of its records in their files
 * and its recorded scores; tasks are read again when they are asked for.
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
import { byteChunks } from "../../core/record/bytes.ts";
import { blobFiles, type ImportFiles, runImport, subfolder } from "../../core/record/import/index.ts";
import { sampleDigest } from "../../core/record/indexed/identity.ts";
import { indexFileName } from "../../core/record/indexed/index.ts";
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
import {
  commonFolder,
  isRecordFile,
  type LinesKind,
  linesKind,
  withoutCommonFolder,
} from "../library/path-files.ts";
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
import { type SharedSource, sharedAddress, sharedImportFiles, withToken } from "../library/shared-files.ts";
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
  TaskName,
  TaskRef,
  TokenCounts,
  VisitComparison,
} from "../model.ts";
import type { LibraryLink } from "../place/library-link.ts";
import type { ComparedVisit } from "../place/place.ts";
import { describeFault } from "../session/faults.ts";

/** Libraries of up to so many bytes are checked in full, and counted, before they are shown. */
const CHECK_WHOLE = 24 << 20;

/** Files from this size on are worth an index beside them, as for the commands. */
const KEEP_FROM = 16 << 20;

/** How a library is called and found again; of files that were given by hand, their digest makes the link. */
type About = Pick<LibrarySummary, "title" | "origin" | "imported"> & {
  link: LibraryLink | null;
  notes?: string[];
};

interface Opened {
  id: string;
  records: RecordLibrary;
  scores: RecordedScores;
  /** Null where all columns were counted on opening. */
  counter: ColumnCounter | null;
}

type OnColumns = (library: string, batch: ColumnBatch) => void;

const NO_EVIDENCE: Evidence = { text: "", spans: [], backReferences: false };

export class LibraryService {
  readonly #open = new Map<string, Opened>();
  /** Libraries opened so far: their ids are never used again. */
  #made = 0;
  #onColumns: OnColumns = () => {};
  readonly #tasks = new KeptTasks();
  readonly #tokenizers = new OpenTokenizers();
  /** Number of the counting of statistics that is under way. */
  #counting = 0;
  #opening: AbortController | null = null;

  /** Who is told of newly counted columns. */
  onColumns(emit: OnColumns): void {
    this.#onColumns = emit;
  }

  /**
   * Reads files and opens them as one library beside those that are open. `scores` are lines of `{ id, logprobs }`.
   * Throws `InputError`, or an AbortError when it was stopped; nothing new is open then.
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
      options.onProgress = toldAs(tell);
      const files = [];
      for (const input of inputs) files.push(await openRecordFile(input, options));
      const recorded = new RecordedScores();
      for (const { name, blob } of scores) {
        await readScores(byteChunks(blob.stream()), name, recorded, signal);
      }
      return this.#add(new RecordLibrary(files), recorded, { ...about, imported: null }, tell, signal);
    });
  }

  /**
   * Reads other programs' recordings, as `gcopd import` does, and opens them as one library beside those that are open.
   * Throws `InputError` when the format is not known or the first fault is met; nothing new is open then.
   */
  async import(
    entries: readonly { path: string; file: Blob }[],
    onProgress: OnProgress,
    choice: { environment?: string } = {},
  ): Promise<LibrarySummary> {
    return this.#stoppable((signal) => {
      const { folder, files } = withoutCommonFolder(entries);
      const name = folder !== "" ? folder : files.length === 1 ? files[0]!.path : `${files.length} files`;
      return this.#imported(blobFiles(files), name, null, throttled(onProgress), { ...choice, signal });
    });
  }

  /**
   * Opens a folder of the worker's disk as if it had been dropped: the records of our own format in it, read by ranges,
   * with lists of scores; or, where there are none, other programs' recordings. Throws as `open` and `import` do.
   */
  async openFolder(
    source: SharedSource,
    folder: string,
    link: LibraryLink,
    onProgress: OnProgress,
    choice: { environment?: string } = {},
  ): Promise<LibrarySummary> {
    return this.#stoppable(async (signal) => {
      const tell = throttled(onProgress);
      const name = folder.split("/").at(-1) || "the shared folder";
      const listed = (done: number): void =>
        tell({ label: `Listing ${name}`, done, total: 0, unit: "files" });
      const files = await sharedImportFiles(source, folder, { signal, onListed: listed });
      const paths = (await files.list()).map(({ path }) => path);
      const kinds = new Map<string, LinesKind>();
      for (const path of paths.filter((each) => isRecordFile({ path: each })))
        kinds.set(path, await linesKind(files.open(path), path));
      const of = (kind: LinesKind): string[] => paths.filter((path) => kinds.get(path) === kind);
      const own = of("records");
      if (own.length === 0) {
        const inner = commonFolder(await files.list());
        const shown = inner.at(-1) ?? name;
        return this.#imported(subfolder(files, inner.join("/")), shown, link, tell, { ...choice, signal });
      }
      const options: OpenOptions = { signal, fetch: withToken(source), onProgress: toldAs(tell) };
      const opened = [];
      for (const path of own) {
        const address = sharedAddress(source, folder === "" ? path : `${folder}/${path}`);
        opened.push(await openRecordFile({ kind: "address", address }, options));
      }
      const scores = of("scores");
      const recorded = new RecordedScores();
      for (const path of scores) await readScores(files.open(path), path, recorded, signal);
      const used = new Set([...own, ...own.map(indexFileName), ...scores]);
      const left = paths.filter((path) => !used.has(path));
      const notes = left.length === 0 ? [] : [`Not used beside the records: ${few(left)}.`];
      return this.#add(
        new RecordLibrary(opened),
        recorded,
        { title: folder === "" ? name : `${folder}/`, origin: "own", imported: null, link, notes },
        tell,
        signal,
      );
    });
  }

  async #imported(
    files: ImportFiles,
    name: string,
    link: LibraryLink | null,
    tell: OnProgress,
    choice: { environment?: string; signal: AbortSignal },
  ): Promise<LibrarySummary> {
    const { signal } = choice;
    const { importer, records, report } = await runImport(files, choice);
    const recorded = new RecordedScores();
    const file = await spooled(importedLines(records, recorded, name, tell), name, null, { signal });
    const title = `${name} (${importer.name})`;
    return this.#add(
      new RecordLibrary([file]),
      recorded,
      { title, origin: "own", imported: report, link },
      tell,
      signal,
    );
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

  async #add(
    library: RecordLibrary,
    scores: RecordedScores,
    { link, notes: said = [], ...about }: About,
    tell: OnProgress,
    signal: AbortSignal,
  ): Promise<LibrarySummary> {
    const small = library.bytes <= CHECK_WHOLE && !library.remote;
    const columns = small ? await countAll(library, tell, signal) : emptyColumns(library.tasks.length);
    const notes = [...said, ...library.files.flatMap((file) => file.notes)];
    const strangers = scores.count === 0 ? 0 : scores.strangers(library.episodeDecisions());
    if (strangers > 0) {
      notes.push(`${strangers} of ${scores.count} recorded score lists name no decision of these episodes.`);
    }
    const given = link ?? { library: `own-${await digestOf(library)}`, disk: [], addresses: [] };
    signal.throwIfAborted();
    this.#made += 1;
    const id = `library-${this.#made}`;
    const counter = small ? null : new ColumnCounter(library, (batch) => this.#onColumns(id, batch));
    this.#open.set(id, { id, records: library, scores, counter });
    const environments = new Set(library.tasks.map(({ environment }) => environment));
    return {
      id,
      link: given,
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

  /** Counting goes on for this one, and stands still for the others. */
  show(library: string): void {
    for (const { id, counter } of this.#open.values()) counter?.pause(id !== library);
  }

  /** Lets go of all that is kept of a library. */
  close(library: string): void {
    this.#open.get(library)?.counter?.end();
    this.#open.delete(library);
    this.#tasks.forget(library);
  }

  /** The tasks in sight, by place: their columns are counted next. */
  countColumns(library: string, places: readonly number[]): void {
    this.#open.get(library)?.counter?.want(places);
  }

  /** The columns of all tasks are wanted. */
  countAllColumns(library: string): void {
    this.#open.get(library)?.counter?.wantAll();
  }

  /** The index of one of a library's files, as `gcopd index` writes it. */
  async indexFile(library: string, name: string): Promise<Blob> {
    const { files } = this.#of(library).records;
    const file = files.find((each) => each.name === name && each.original);
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
      library: ref.library,
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
      recorded: await recordedTokens(
        episode,
        decision,
        this.#of(ref.library).scores,
        this.#tokenizers.tokenizer,
      ),
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
    { library, environment, task, episode, decision, selection }: DecisionModel,
    changed: Evidence,
  ): Promise<FullMethod | null> {
    if (Object.keys(selection).length === 0) return null;
    const { retrieval, evidence, counts } = await this.decision(
      { library, environment, task },
      episode,
      decision,
    );
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
    library: string,
    names: readonly (TaskName & { episode: string })[],
  ): Promise<{ episodes: Blob; sources: Blob }> {
    const lines = (records: readonly object[]) =>
      new Blob(records.map((record) => `${JSON.stringify(record)}\n`));
    const episodes: Blob[] = [];
    const sources: Blob[] = [];
    let before = "";
    for (const name of names) {
      const ref = { ...name, library };
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
   * The paper's figures of a whole library, under a selection; evidence in tokens when a tokenizer is open. Another
   * call, closing the library and `stopStatistics` end it with an AbortError.
   */
  async statistics(
    id: string,
    selection: Selection,
    onProgress: (tasks: number) => void,
  ): Promise<LibraryStatistics> {
    const { records: library } = this.#of(id);
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
      if (mine !== this.#counting || !this.#open.has(id)) {
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
    const { id, records, counter } = this.#of(ref.library);
    counter?.standBack();
    return this.#tasks.get(id, records, ref, selection);
  }

  #of(library: string): Opened {
    const opened = this.#open.get(library);
    if (opened === undefined) throw new InputError("the library is not open any more");
    return opened;
  }
}

const toldAs =
  (tell: OnProgress): NonNullable<OpenOptions["onProgress"]> =>
  ({ file, bytes, total }) =>
    tell({ label: `Indexing ${file}`, done: bytes, total: total ?? 0, unit: "bytes" });

async function readScores(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  into: RecordedScores,
  signal: AbortSignal,
): Promise<void> {
  for await (const { record } of readRecords(chunks, { file, signal, kind: "score-output" }))
    into.add(record, file);
}

const few = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");

/** Twelve hexadecimal digits of what the files hold, in any order of them: see `sampleDigest`. */
async function digestOf({ files }: RecordLibrary): Promise<string> {
  const each = await Promise.all(
    files.map(async ({ reader }) => `${reader.size} ${await sampleDigest(reader)}`),
  );
  const bytes = new TextEncoder().encode(each.sort().join("\n"));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest.subarray(0, 6), (byte) => byte.toString(16).padStart(2, "0")).join("");
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
