/** What the teacher reads, from the library: retrieve, render, fit, insert (Algorithm 1, lines 6–14). */
import { environmentRules } from "../environment/environment.ts";
import { evidenceInput } from "../evidence/index.ts";
import { Lru } from "../lru.ts";
import { taskKey } from "../record/library.ts";
import type { Reference, Source } from "../record/schema.ts";
import { hasUnknownOutcome } from "../record/standing.ts";
import { type PreparedTask, prepareTask } from "../retrieval/prepare.ts";
import { retrieveEpisode } from "../retrieval/retrieve.ts";
import { type SourceSelection, selectSources, sourcesKey } from "../retrieval/selection.ts";
import type { TextCodec } from "./codec.ts";
import type { TeacherContexts } from "./score-batch.ts";
import { teacherPrompt } from "./teacher-prompt.ts";

export interface LibraryContextsOptions {
  /** D_x: all sources of one task, none where the library has none (such tasks stay in training). */
  sources(environment: string, task: string): Promise<readonly Source[]>;
  codec: TextCodec;
  /** Longest teacher prompt with its evidence, in tokens; the environment's own limit when absent. */
  limit?: number;
}

/** Decisions of the library whose tasks stay prepared, for the next epoch: about 110 MB of ScienceWorld's executions. */
const KEPT_DECISIONS = 1 << 17;

/**
 * Teacher contexts over a library. Vanilla stages read h_t as it is; graph-conditioned ones read h_t with R_t before
 * the end of its user message, within the token limit and never cut.
 *
 * @throws InputError (when a context is asked for) when the evidence does not fit even with back-references
 */
export function libraryContexts(options: LibraryContextsOptions): TeacherContexts {
  const { codec } = options;
  const tasks = new Lru<PreparedTask>(KEPT_DECISIONS);

  async function prepared(
    environment: string,
    task: string,
    selection: SourceSelection,
  ): Promise<PreparedTask> {
    const key = JSON.stringify([taskKey(environment, task), sourcesKey(selection)]);
    let found = tasks.get(key);
    if (found === undefined) {
      const sources = selectSources(await options.sources(environment, task), selection);
      found = prepareTask(sources, environmentRules(environment));
      const decisions = sources.reduce((sum, source) => sum + source.decisions.length, 1);
      tasks.set(key, found, decisions);
    }
    return found;
  }

  return async (episode, evidence) => {
    if (evidence.kind === "none") {
      return (_, promptIds) => ({
        promptIds,
        successReference: null,
        failureReference: null,
        backReferences: false,
      });
    }
    const { control } = evidence;
    const task = await prepared(episode.environment, episode.task, evidence);
    const retrievals = retrieveEpisode(task, episode, evidence);
    return (decision, promptIds, responseTokens) => {
      const { record } = retrievals[decision]!;
      const input = evidenceInput(task, episode, record, control);
      const read = teacherPrompt(input, promptIds, responseTokens, codec, options.limit);
      return {
        promptIds: read.promptIds,
        successReference: claimOf(record.success),
        failureReference:
          input.failure !== null && hasUnknownOutcome(input.failure)
            ? "unknown outcome"
            : claimOf(record.failure),
        backReferences: read.evidence.backReferences,
      };
    };
  };
}

/** Whether a retained record is trusted, or a claim that nothing checked. */
const claimOf = (reference: Reference | null): "trusted" | "unverified" | null =>
  reference === null ? null : reference.relation === "unverified" ? "unverified" : "trusted";
