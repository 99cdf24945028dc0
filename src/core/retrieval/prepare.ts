/**
 * Everything about one task's library that does not depend on the student: eligibility and cost of each visit, A⁺(z)
 * in rank order and the failed records' visits for each state, and the fallbacks. A decision is then answered by
 * looking its locator up.
 */
import { byCodeUnit } from "../graph/matching-key.ts";
import { type GraphNode, placesOf, type TaskGraph, taskGraph } from "../graph/task-graph.ts";
import type { Source } from "../record/schema.ts";
import { isTrusted, isTrustedFailure, isTrustedSuccess, reportsSuccess } from "../record/standing.ts";
import {
  type Continuity,
  continuity,
  ineligibleReasons,
  type RetrievalRules,
  suffixCost,
} from "./eligibility.ts";
import type { IneligibleReason } from "./types.ts";

/** A visit with what ranking needs. */
export interface RankedVisit {
  source: string;
  repetition: number;
  position: number;
  /** d(r, j). */
  cost: number;
}

/** A member of I_x(z) with its eligibility. */
export interface PreparedVisit extends RankedVisit {
  terminal: boolean;
  reasons: readonly IneligibleReason[];
  /** Place from 1 in A⁺(z), the student left out; null when not eligible. */
  rank: number | null;
}

/** A visit of a trusted failed record. */
export interface FailedVisit {
  source: string;
  repetition: number;
  position: number;
  /** d(r, 0). */
  wholeCost: number;
}

/** One state z. */
export interface PreparedState {
  /** I_x(z), in the order of the sources and of their positions. */
  visits: readonly PreparedVisit[];
  /** A⁺(z) of Eq. (4), in rank order. */
  candidates: readonly RankedVisit[];
  /** Visits of failed records among them, unordered: their order depends on the student's position. */
  failures: readonly FailedVisit[];
}

/** A fallback record, retained where no state is shared. */
export interface Fallback {
  source: string;
  relation: "unaligned" | "unverified";
}

/** One task's library, ready for `retrieve`. */
export interface PreparedTask {
  graph: TaskGraph;
  rules: RetrievalRules;
  /** Sources that the environment keeps out of the library: they give no visit and are never retained. */
  leftOut: readonly Source[];
  /** The state at a place in `graph.nodes`, prepared when first asked for: students come to few of a task's states. */
  state(node: number): PreparedState;
  /** FallbackSuccess(D_x), or the unverified record where that is permitted. */
  fallbackSuccess: Fallback | null;
  /** The failed record where no position is shared. */
  fallbackFailure: Fallback | null;
  /** The record of a source id; undefined for an unknown one. */
  source(id: string): Source | undefined;
}

/**
 * Ranking of successful suffixes: cost, then smaller repetition, then earlier position ("Decision cost and ties").
 * Source ids break what is left, so that the order never depends on the order of the library file.
 */
export function compareRanked(a: RankedVisit, b: RankedVisit): number {
  return (
    a.cost - b.cost ||
    a.repetition - b.repetition ||
    a.position - b.position ||
    byCodeUnit(a.source, b.source)
  );
}

/** D_x: the sources that the environment's library holds. ALFWorld's holds complete, replay-checked ones only. */
export function admittedSources(
  sources: readonly Source[],
  rules: Pick<RetrievalRules, "trustedSourcesOnly">,
): readonly Source[] {
  return rules.trustedSourcesOnly ? sources.filter(isTrusted) : sources;
}

/**
 * Builds the graph of one task, from which each state is prepared when it is asked for. Linear in the visits but for
 * sorting each state's.
 * Throws `InputError` when the sources are not of one task. No source at all is fine: nothing ever matches then.
 */
export function prepareTask(recorded: readonly Source[], rules: RetrievalRules): PreparedTask {
  const sources = admittedSources(recorded, rules);
  const graph = taskGraph(sources);
  const breaks = sources.map(continuity);
  const byId = new Map(sources.map((source) => [source.source, source]));
  const states: (PreparedState | undefined)[] = new Array(graph.nodes.length);
  const prepareState = (node: GraphNode): PreparedState => {
    const failures: FailedVisit[] = [];
    const visits = placesOf(node.visits, graph.offsets, (r, position): PreparedVisit => {
      const source = sources[r]!;
      const terminal = position === source.decisions.length;
      const { source: id, repetition } = source;
      if (isTrustedFailure(source)) {
        failures.push({ source: id, repetition, position, wholeCost: suffixCost(source, 0) });
      }
      const reasons = ineligibleReasons(source, position, breaks[r]!, rules);
      const cost = suffixCost(source, position);
      return { source: id, repetition, position, cost, terminal, reasons, rank: null };
    });
    const ranked = visits.filter((visit) => visit.reasons.length === 0).sort(compareRanked);
    ranked.forEach((visit, place) => {
      visit.rank = place + 1;
    });
    const candidates = ranked.map(({ source, repetition, position, cost }) => ({
      source,
      repetition,
      position,
      cost,
    }));
    return { visits, candidates, failures };
  };
  return {
    graph,
    rules,
    leftOut: rules.trustedSourcesOnly ? recorded.filter((source) => !isTrusted(source)) : [],
    state: (node) => (states[node] ??= prepareState(graph.nodes[node]!)),
    fallbackSuccess: fallbackSuccess(sources, breaks, rules),
    fallbackFailure: fallbackFailure(sources, rules),
    source: (id) => byId.get(id),
  };
}

/**
 * FallbackSuccess(D_x): the eligible whole source of least cost, labelled unaligned; where the environment does not test
 * its entry (ALFWorld), the trusted success of least cost. Only where the task has no trusted success at all, and the
 * environment permits it, a raw record that reports success: the one with the fewest tries.
 */
function fallbackSuccess(
  sources: readonly Source[],
  breaks: readonly Continuity[],
  rules: RetrievalRules,
): Fallback | null {
  const whole = sources.filter((source, r) =>
    rules.testsUnalignedEntry
      ? ineligibleReasons(source, 0, breaks[r]!, rules).length === 0
      : isTrustedSuccess(source),
  );
  const unaligned = least(whole, (source) => suffixCost(source, 0));
  if (unaligned !== null) return { source: unaligned.source, relation: "unaligned" };
  if (!rules.unverifiedFallback || sources.some(isTrustedSuccess)) return null;
  const raw = least(sources.filter(reportsSuccess), (source) =>
    source.decisions.reduce((tries, decision) => tries + 1 + decision.attempts.length, 0),
  );
  return raw === null ? null : { source: raw.source, relation: "unverified" };
}

/**
 * The failed record of least whole cost, labelled unaligned. Only where the task has no trusted failure, and the
 * environment permits it, the raw record of least repetition that reports failure.
 */
function fallbackFailure(sources: readonly Source[], rules: RetrievalRules): Fallback | null {
  const unaligned = least(sources.filter(isTrustedFailure), (source) => suffixCost(source, 0));
  if (unaligned !== null) return { source: unaligned.source, relation: "unaligned" };
  if (!rules.unverifiedFallback) return null;
  const raw = least(
    sources.filter((source) => !isTrusted(source) && !reportsSuccess(source)),
    () => 0,
  );
  return raw === null ? null : { source: raw.source, relation: "unverified" };
}

/** The source of least cost, then repetition, then id; null when there is none. */
function least(sources: readonly Source[], cost: (source: Source) => number): Source | null {
  let best: Source | null = null;
  for (const source of sources) {
    if (best === null) best = source;
    else {
      const order =
        cost(source) - cost(best) ||
        source.repetition - best.repetition ||
        byCodeUnit(source.source, best.source);
      if (order < 0) best = source;
    }
  }
  return best;
}
