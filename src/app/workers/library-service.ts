/**
 * Records, retrieval and evidence, off the drawing thread. One library is open at a time; it is replaced only when the
 * next one has been read whole without a fault.
 */
import {
  customEnvironmentNote,
  environmentRules,
  isCustomEnvironment,
} from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import {
  evidenceInput,
  evidenceInsert,
  fitEvidence,
  insertEvidence,
  renderEvidence,
} from "../../core/evidence/index.ts";
import { taskGraph } from "../../core/graph/index.ts";
import { blobFiles, runImport } from "../../core/record/import/index.ts";
import { taskKey } from "../../core/record/library.ts";
import type { Episode, Source, SourceDecision } from "../../core/record/schema.ts";
import { type PreparedTask, prepareTask, retrieve } from "../../core/retrieval/index.ts";
import { type Selection, type SourceSelection, selectSources } from "../../core/retrieval/selection.ts";
import {
  CHARACTERS,
  type EvidenceMeter,
  type LibraryStatistics,
  StatisticsCollector,
} from "../../core/statistics/index.ts";
import {
  decisionPromptIds,
  decisionResponseIds,
  loadTokenizer,
  type Tokenizer,
  type TokenizerTexts,
} from "../../text/index.ts";
import { withoutCommonFolder } from "../library/path-files.ts";
import {
  type IndexProgress,
  type RecordFile,
  RecordIndex,
  type TaskRecords,
} from "../library/record-index.ts";
import { taskModel } from "../library/task-model.ts";
import { taskSummary } from "../library/task-summary.ts";
import type { DecisionModel, LibrarySummary, ScorePair, TaskModel, TaskRef, TaskSummary } from "../model.ts";
import { sourcesKey } from "../place/what-if.ts";
import { describeFault } from "../session/faults.ts";

/** One task read back and prepared. */
interface OpenTask {
  records: TaskRecords;
  prepared: PreparedTask;
}

/** Tasks kept ready: the one that is looked at, and its neighbours while one steps through. */
const KEPT_TASKS = 4;

export class LibraryService {
  #index: RecordIndex | null = null;
  #open = new Map<string, Promise<OpenTask>>();
  #tokenizer: Tokenizer | null = null;
  /** Number of the counting that is under way. */
  #counting = 0;

  /** Reads files and makes them the open library. Throws `InputError`; what was open before then stays open. */
  async open(
    files: readonly RecordFile[],
    about: { title: string; origin: LibrarySummary["origin"] },
    onProgress: (progress: IndexProgress) => void,
  ): Promise<LibrarySummary> {
    return this.#replace(await RecordIndex.read(files, onProgress), { ...about, imported: null });
  }

  /**
   * Reads other programs' recordings, as `gcopd import` does, and makes them the open library. Throws `InputError` when
   * the format is not known or the first fault is met; what was open before then stays open.
   */
  async import(
    entries: readonly { path: string; file: Blob }[],
    onProgress: (progress: IndexProgress) => void,
  ): Promise<LibrarySummary> {
    const { folder, files } = withoutCommonFolder(entries);
    const { importer, records, report } = await runImport(blobFiles(files));
    const name = folder !== "" ? folder : files.length === 1 ? files[0]!.path : `${files.length} files`;
    const index = await RecordIndex.fromImport(name, records, onProgress);
    return this.#replace(index, {
      title: `${name} (${importer.name})`,
      origin: "own",
      imported: report,
    });
  }

  async #replace(
    index: RecordIndex,
    about: Pick<LibrarySummary, "title" | "origin" | "imported">,
  ): Promise<LibrarySummary> {
    const tasks: TaskSummary[] = [];
    for (const ref of index.tasks) {
      const { sources, episodes } = await index.task(ref);
      tasks.push(taskSummary(taskGraph(sources), ref, episodes));
    }
    this.#index = index;
    this.#open = new Map();
    const environments = new Set(index.tasks.map(({ environment }) => environment));
    const environmentNotes = [...environments].filter(isCustomEnvironment).map(customEnvironmentNote);
    return { ...about, files: index.files, tasks, environmentNotes };
  }

  /** The task view's data, of the executions that take part. */
  async task(ref: TaskRef, { sourcesPerTask, augmentation }: SourceSelection = {}): Promise<TaskModel> {
    const selection = { sourcesPerTask, augmentation };
    const { records, prepared } = await this.#task(ref, selection);
    return {
      ...taskModel(prepared.graph, ref, records.episodes),
      selection,
      leftOut: records.sources.length - prepared.graph.sources.length,
    };
  }

  /** Retrieval and evidence for one decision. Throws `InputError` when there is none of that name. */
  async decision(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: Selection = {},
  ): Promise<DecisionModel> {
    const { records, prepared } = await this.#task(ref, selection);
    const episode = findEpisode(records, episodeId);
    const retrieval = retrieve(prepared, episode, decision, selection);
    const input = evidenceInput(prepared, episode, retrieval.record, selection.control);
    const { observation, action, status, feedback, prompt, response } = episode.decisions[decision]!;
    const model: DecisionModel = {
      ...ref,
      episode: episodeId,
      decision,
      selection,
      retrieval,
      observation,
      action,
      status,
      feedback,
      prompt: prompt ?? null,
      response: response ?? null,
      evidence: renderEvidence(input),
      counts: null,
      countsProblem: null,
    };
    try {
      const { evidence, pair, evidenceTokens } = this.#teacherContexts(
        prepared,
        episode,
        decision,
        selection,
      );
      const counts = {
        vanilla: pair.vanillaIds.length,
        graph: pair.graphIds.length,
        evidence: evidenceTokens,
        response: pair.responseIds.length,
      };
      return { ...model, evidence, counts };
    } catch (error) {
      return { ...model, countsProblem: describeFault(error) };
    }
  }

  /** The two teacher contexts of one decision and the response that both score. */
  async pair(
    ref: TaskRef,
    episodeId: string,
    decision: number,
    selection: Selection = {},
  ): Promise<ScorePair> {
    const { records, prepared } = await this.#task(ref, selection);
    return this.#teacherContexts(prepared, findEpisode(records, episodeId), decision, selection).pair;
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

  /** One episode as it was recorded. */
  async episode(ref: TaskRef, episodeId: string): Promise<Episode> {
    return findEpisode((await this.#task(ref)).records, episodeId);
  }

  /** The episodes of one task that have a decision to train on. */
  async episodeIds(ref: TaskRef): Promise<string[]> {
    const { episodes } = (await this.#task(ref)).records;
    return episodes.filter(({ decisions }) => decisions.length > 0).map(({ episode }) => episode);
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
    const index = this.#index;
    if (index === null) throw new InputError("no library is open");
    this.#counting += 1;
    const mine = this.#counting;
    const meter = this.#tokenizer === null ? CHARACTERS : tokenMeter(this.#tokenizer);
    const collector = new StatisticsCollector({ selection, meter });
    for (const [done, ref] of index.tasks.entries()) {
      onProgress(done);
      collector.add(await index.task(ref));
      // Other questions to this worker are answered in between.
      await new Promise((resolve) => setTimeout(resolve));
      if (mine !== this.#counting || index !== this.#index) {
        throw new DOMException("the counting was stopped", "AbortError");
      }
    }
    return collector.result();
  }

  stopStatistics(): void {
    this.#counting += 1;
  }

  /** The tokenizer that counts and scores from now on. Throws `InputError` for files that make none. */
  setTokenizer(texts: TokenizerTexts): void {
    this.#tokenizer = loadTokenizer(texts);
  }

  #teacherContexts(prepared: PreparedTask, episode: Episode, decision: number, selection: Selection) {
    const tokenizer = this.#tokenizer;
    if (tokenizer === null) throw new InputError("no tokenizer is open");
    if (tokenizer.endOfTurnId === null) {
      throw new InputError("has no <|im_end|> and no eos_token to end a turn with", { file: tokenizer.file });
    }
    const place = { episode: episode.episode, decision };
    const recorded = episode.decisions[decision]!;
    const vanillaIds = decisionPromptIds(recorded, tokenizer, place);
    const responseIds = decisionResponseIds(recorded, tokenizer, place);
    const retrieval = retrieve(prepared, episode, decision, selection).record;
    let ids: number[] = [];
    const evidence = fitEvidence({
      ...evidenceInput(prepared, episode, retrieval, selection.control),
      limit: environmentRules(episode.environment).limits.evidenceTokens,
      countTokens: (text) => {
        ids = tokenizer.encode(evidenceInsert(text), { special: false });
        return vanillaIds.length + ids.length;
      },
    });
    const pair: ScorePair = {
      vanillaIds,
      graphIds: insertEvidence(vanillaIds, ids, tokenizer.endOfTurnId),
      responseIds,
      pieces: tokenizer.pieces(responseIds).map((piece) => piece.text),
    };
    return { evidence, pair, evidenceTokens: ids.length };
  }

  async #task(ref: TaskRef, selection: SourceSelection = {}): Promise<OpenTask> {
    const index = this.#index;
    if (index === null) throw new InputError("no library is open");
    const key = JSON.stringify([taskKey(ref.environment, ref.task), sourcesKey(selection)]);
    const known = this.#open.get(key);
    this.#open.delete(key);
    const task =
      known ??
      index.task(ref).then((records) => ({
        records,
        prepared: prepareTask(selectSources(records.sources, selection), environmentRules(ref.environment)),
      }));
    this.#open.set(key, task);
    if (this.#open.size > KEPT_TASKS) this.#open.delete(this.#open.keys().next().value!);
    return task;
  }
}

/** Tokens of the evidence as it is inserted, against the environment's limit for prompt and evidence together. */
function tokenMeter(tokenizer: Tokenizer): EvidenceMeter {
  return {
    unit: "tokens",
    size: (text) => tokenizer.encode(evidenceInsert(text), { special: false }).length,
    budget: (episode, t) => {
      const decision = episode.decisions[t]!;
      const recorded = decision.prompt !== undefined || decision.prompt_ids !== undefined;
      const place = { episode: episode.episode, decision: t };
      return {
        limit: environmentRules(episode.environment).limits.evidenceTokens,
        prompt: recorded ? decisionPromptIds(decision, tokenizer, place).length : null,
      };
    },
  };
}

function findEpisode(records: TaskRecords, id: string): Episode {
  const episode = records.episodes.find((candidate) => candidate.episode === id);
  if (episode === undefined) throw new InputError(`task ${records.task} has no episode ${id}`);
  return episode;
}
