/**
 * State- and history-conditioned retrieval (Section 3.3, "Per-decision procedure"): what a decision's locator finds in
 * the prepared task, which candidate wins, and which complete records are retained for the teacher.
 */

import { InputError } from "../errors.ts";
import { matchingKey } from "../graph/matching-key.ts";
import type { Episode, Reference, RetrievalRecord } from "../record/schema.ts";
import { suffixCost } from "./eligibility.ts";
import { byCloseness, explain } from "./explain.ts";
import type { LocatedEpisode } from "./located-episode.ts";
import { minimumPrefixPair } from "./minimum-prefix.ts";
import { pinnedReference } from "./pin.ts";
import type { FailedVisit, Fallback, PreparedState, PreparedTask } from "./prepare.ts";
import type { RetrieveOptions } from "./selection.ts";
import { isTerminalFailure } from "./terminal-failure.ts";
import type { Explanation, Retrieval } from "./types.ts";

/** Looks up positions 0 … `until` of an episode. Throws `InputError` when the episode is of another task. */
function locateEpisode(prepared: PreparedTask, episode: Episode, until: number): LocatedEpisode {
  const { graph } = prepared;
  if (
    graph.sources.length > 0 &&
    (episode.task !== graph.task || episode.environment !== graph.environment)
  ) {
    throw new InputError(
      `episode ${episode.episode} is of task ${episode.environment}/${episode.task}, ` +
        `its sources are of ${graph.environment}/${graph.task}`,
    );
  }
  const states: (PreparedState | null)[] = [];
  const latestSuccess: number[] = [];
  const latestFailure: number[] = [];
  for (let u = 0; u <= until; u++) {
    const key = matchingKey(episode.decisions[u]!.state);
    const node = key === null ? undefined : graph.index.get(key);
    const state = node === undefined ? null : prepared.state(node);
    states.push(state);
    latestSuccess.push(state !== null && state.candidates.length > 0 ? u : (latestSuccess[u - 1] ?? -1));
    latestFailure.push(state !== null && state.failures.length > 0 ? u : (latestFailure[u - 1] ?? -1));
  }
  return {
    prepared,
    episode,
    states,
    latestSuccess,
    latestFailure,
    failedAt: new Map(),
    minimumPrefix: null,
  };
}

/**
 * Retrieval for decision t of a completed student episode. `decision` counts from 0. Throws `InputError` when the
 * episode has no such decision or is of another task than the sources, or when a reference that was chosen by hand
 * cannot be one there.
 */
export function retrieve(
  prepared: PreparedTask,
  episode: Episode,
  decision: number,
  options: RetrieveOptions = {},
): Retrieval {
  if (!Number.isInteger(decision) || decision < 0 || decision >= episode.decisions.length) {
    throw new InputError(
      `episode ${episode.episode} has no decision ${decision}: ` +
        (episode.decisions.length === 0
          ? "it has none at all"
          : `they go from 0 to ${episode.decisions.length - 1}`),
    );
  }
  return decide(locateEpisode(prepared, episode, decision), decision, options);
}

/**
 * Retrieval for every decision of an episode, in order; the positions are looked up once. A reference chosen by hand
 * must be possible at every one of them.
 */
export function retrieveEpisode(
  prepared: PreparedTask,
  episode: Episode,
  options: RetrieveOptions = {},
): Retrieval[] {
  const located = locateEpisode(prepared, episode, episode.decisions.length - 1);
  return episode.decisions.map((_, decision) => decide(located, decision, options));
}

/** The per-decision procedure and Retain_env. */
function decide(located: LocatedEpisode, t: number, options: RetrieveOptions): Retrieval {
  const { episode } = located;
  const state = located.states[t]!;
  const best = state?.candidates[0];
  const won = episode.outcome.success;
  const record: RetrievalRecord = {
    format: "gcopd.retrieval.v1",
    environment: episode.environment,
    task: episode.task,
    episode: episode.episode,
    decision: t,
    case:
      best !== undefined
        ? "matched_success"
        : state !== null
          ? "matched_no_success"
          : won
            ? "unmatched_success"
            : "unmatched_failure",
    matched_visits: state?.matched ?? 0,
    candidates: (state?.candidates ?? []).map(({ source, position, cost }) => ({ source, position, cost })),
    winner: null,
    success: null,
    failure: null,
  };
  if (best !== undefined) {
    // C_t^+ holds the student's own continuation only if it succeeded; an equal cost goes to the external record.
    const own = suffixCost(episode, t);
    const { source, position, cost } = best;
    if (won && own < cost) record.winner = { kind: "student", cost: own };
    else {
      record.winner = { kind: "source", source, position, cost };
      record.success = { source, position, student_position: t, relation: "current" };
    }
  } else if (record.case !== "unmatched_success") {
    record.success = successReference(located, t);
    record.failure = failedReference(located, t);
  }
  const { pin, pinFailure } = options;
  if (pin !== undefined) record.success = pinnedReference(located, t, "success", pin);
  if (pinFailure !== undefined) record.failure = pinnedReference(located, t, "failure", pinFailure);
  const found = { success: record.success, failure: record.failure };
  applyControl(located, record, options);
  if (options.terminalFailureNote === true && isTerminalFailure(episode, t)) {
    record.terminal_failure_note = true;
  }
  return new Decided(located, t, record, found, options);
}

/**
 * A retrieval whose explanation is made when it is first looked at: a file of retrieval records needs none. A class,
 * because a getter on each of many objects would keep all that it closes over until a full garbage collection.
 */
class Decided implements Retrieval {
  readonly #located: LocatedEpisode;
  readonly #decision: number;
  readonly #found: { success: Reference | null; failure: Reference | null };
  readonly #options: RetrieveOptions;
  #explanation: Explanation | undefined;

  constructor(
    located: LocatedEpisode,
    decision: number,
    readonly record: RetrievalRecord,
    found: { success: Reference | null; failure: Reference | null },
    options: RetrieveOptions,
  ) {
    this.#located = located;
    this.#decision = decision;
    this.#found = found;
    this.#options = options;
  }

  get explanation(): Explanation {
    this.#explanation ??= explain(this.#located, this.#decision, this.record, this.#found, this.#options);
    return this.#explanation;
  }
}

/** What a control retains in place of what the rules found; the rest of the record stays as found. */
function applyControl(located: LocatedEpisode, record: RetrievalRecord, { control }: RetrieveOptions): void {
  if (control === "minimum-prefix") {
    const { prepared, episode } = located;
    located.minimumPrefix ??= minimumPrefixPair(prepared.graph.sources, episode);
    record.success = located.minimumPrefix.success;
    record.failure = located.minimumPrefix.failure;
  }
  if (control === "hindsight-only") record.success = null;
  if (control === "success-only" || control === "hindsight-only") record.failure = null;
}

/** v_t^+ where A_t^+ = ∅: the best candidate at the historical anchor α_t of Eq. (6), else FallbackSuccess. */
function successReference(located: LocatedEpisode, t: number): Reference | null {
  const anchor = located.latestSuccess[t]!;
  if (anchor < 0) return fallbackReference(located.prepared.fallbackSuccess);
  const { source, position } = located.states[anchor]!.candidates[0]!;
  return { source, position, student_position: anchor, relation: "historical" };
}

/** FailedRef(τ, t, D_x): at the latest position shared with a failed record, else the fallback. */
function failedReference(located: LocatedEpisode, t: number): Reference | null {
  const shared = located.latestFailure[t]!;
  if (shared < 0) return fallbackReference(located.prepared.fallbackFailure);
  const { source, position } = closestFailure(located, shared);
  return { source, position, student_position: shared, relation: shared === t ? "current" : "historical" };
}

function closestFailure(located: LocatedEpisode, u: number): FailedVisit {
  let best = located.failedAt.get(u);
  if (best === undefined) {
    const closer = byCloseness(u);
    best = located.states[u]!.failures.reduce((a, b) => (closer(b, a) < 0 ? b : a));
    located.failedAt.set(u, best);
  }
  return best;
}

function fallbackReference(fallback: Fallback | null): Reference | null {
  if (fallback === null) return null;
  return { source: fallback.source, position: null, student_position: null, relation: fallback.relation };
}
