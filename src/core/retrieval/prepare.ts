/**
 * Everything about one task's library that does not depend on the student: eligibility and cost of each visit, A⁺(z)
 * in rank order and the failed records' visits for each state, and the fallbacks. A decision is then answered by
 * looking its locator up.
 */
import { byCodeUnit } from "../graph/matching-key.ts";
import { type TaskGraph, taskGraph } from "../graph/task-graph.ts";
import type { Source } from "../record/schema.ts";
import { isTrusted, isTrustedFailure, isTrustedSuccess, reportsSuccess } from "../record/standing.ts";
import { admittedSources } from "./admission.ts";
import {
  type Continuity,
  continuity,
  type FailedTests,
  failedByRecord,
  failedByVisit,
  type RetrievalRules,
  reasonsOf,
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
  /** |I_x(z)|. */
  readonly matched: number;
  /** I_x(z), in the order of the sources and of their positions. Worked out on each call, for explanations. */
  visits(): PreparedVisit[];
  /** A⁺(z) of Eq. (4), in rank order. */
  readonly candidates: readonly RankedVisit[];
  /** Visits of failed records among them, unordered: their order depends on the student's position. */
  readonly failures: readonly FailedVisit[];
}

/** A fallback record, retained where no state is shared. */
export interface Fallback {
  source: string;
  relation: "unaligned" | "unverified";
}

/** One task's library, ready for `retrieve`. */
export interface PreparedTask {
  readonly graph: TaskGraph;
  readonly rules: RetrievalRules;
  /** Sources that the environment keeps out of the library: they give no visit and are never retained. */
  readonly leftOut: readonly Source[];
  /** The state at a place in `graph.nodes`, prepared when first asked for: students come to few of a task's states. */
  state(node: number): PreparedState;
  /** FallbackSuccess(D_x), or the unverified record where that is permitted. */
  readonly fallbackSuccess: Fallback | null;
  /** The failed record where no position is shared. */
  readonly fallbackFailure: Fallback | null;
  /** The record of a source id; undefined for an unknown one. */
  source(id: string): Source | undefined;
  /** Every test of b⁺ that visit (r, j) fails, in their order; empty where it is eligible. */
  reasons(source: Source, position: number): IneligibleReason[];
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

/**
 * Builds the graph of one task, from which each state is prepared when it is asked for. Linear in the visits but for
 * sorting each state's.
 * Throws `InputError` when the sources are not of one task. No source at all is fine: nothing ever matches then.
 */
export function prepareTask(recorded: readonly Source[], rules: RetrievalRules): PreparedTask {
  return new GraphedTask(recorded, rules);
}

/** One record with what retrieval asks about it, each answer worked out once. */
class Standing {
  readonly failed: boolean;
  readonly #failedByRecord: FailedTests;
  #breaks: Continuity | undefined;

  constructor(
    readonly source: Source,
    readonly rules: RetrievalRules,
  ) {
    this.failed = isTrustedFailure(source);
    this.#failedByRecord = failedByRecord(source);
  }

  /** All tests of b⁺ that the visit at a position fails. */
  failedTests(position: number): FailedTests {
    return this.#failedByRecord | this.#failedByVisit(position);
  }

  /** b⁺(r, j) of Eq. (4). A record that is out of the question is not searched for breaks. */
  isEligible(position: number): boolean {
    return this.#failedByRecord === 0 && this.#failedByVisit(position) === 0;
  }

  #failedByVisit(position: number): FailedTests {
    this.#breaks ??= continuity(this.source);
    return failedByVisit(this.source, position, this.#breaks, this.rules);
  }
}

/** A `PreparedTask` that works out each part of it when it is first asked for. */
class GraphedTask implements PreparedTask {
  readonly graph: TaskGraph;
  readonly leftOut: readonly Source[];
  readonly #standings: readonly Standing[];
  readonly #states = new Map<number, PreparedState>();
  #byId: ReadonlyMap<string, Source> | undefined;
  #success: Fallback | null | undefined;
  #failure: Fallback | null | undefined;

  constructor(
    recorded: readonly Source[],
    readonly rules: RetrievalRules,
  ) {
    const sources = admittedSources(recorded, rules);
    this.graph = taskGraph(sources);
    const admitted = new Set(sources);
    this.leftOut = sources.length === recorded.length ? [] : recorded.filter((each) => !admitted.has(each));
    this.#standings = sources.map((source) => new Standing(source, rules));
  }

  state(node: number): PreparedState {
    let state = this.#states.get(node);
    if (state === undefined) {
      state = new GraphedState(this.graph, node, this.#standings);
      this.#states.set(node, state);
    }
    return state;
  }

  /**
   * FallbackSuccess(D_x): the eligible whole source of least cost, labelled unaligned; where the environment does not
   * test its entry (ALFWorld), the trusted success of least cost. Only where the task has no trusted success at all, and
   * the environment permits it, a raw record that reports success: the one with the fewest tries.
   */
  get fallbackSuccess(): Fallback | null {
    if (this.#success !== undefined) return this.#success;
    const { sources } = this.graph;
    const whole = sources.filter((source, r) =>
      this.rules.testsUnalignedEntry ? this.#standings[r]!.isEligible(0) : isTrustedSuccess(source),
    );
    this.#success =
      unaligned(whole) ??
      (this.rules.unverifiedFallback && !sources.some(isTrustedSuccess)
        ? unverified(sources.filter(reportsSuccess), triesOf)
        : null);
    return this.#success;
  }

  /**
   * The failed record of least whole cost, labelled unaligned. Only where the task has no trusted failure, and the
   * environment permits it, the raw record of least repetition that reports failure.
   */
  get fallbackFailure(): Fallback | null {
    if (this.#failure !== undefined) return this.#failure;
    const { sources } = this.graph;
    this.#failure =
      unaligned(sources.filter(isTrustedFailure)) ??
      (this.rules.unverifiedFallback
        ? unverified(
            sources.filter((source) => !isTrusted(source) && !reportsSuccess(source)),
            () => 0,
          )
        : null);
    return this.#failure;
  }

  source(id: string): Source | undefined {
    this.#byId ??= new Map(this.graph.sources.map((source) => [source.source, source]));
    return this.#byId.get(id);
  }

  reasons(source: Source, position: number): IneligibleReason[] {
    return reasonsOf(new Standing(source, this.rules).failedTests(position));
  }
}

class GraphedState implements PreparedState {
  readonly candidates: readonly RankedVisit[];
  readonly failures: readonly FailedVisit[];
  readonly matched: number;
  readonly #graph: TaskGraph;
  readonly #node: number;
  readonly #standings: readonly Standing[];

  constructor(graph: TaskGraph, node: number, standings: readonly Standing[]) {
    this.#graph = graph;
    this.#node = node;
    this.#standings = standings;
    const candidates: RankedVisit[] = [];
    const failures: FailedVisit[] = [];
    let matched = 0;
    graph.forEachVisit(node, (r, position) => {
      matched++;
      const standing = standings[r]!;
      const { source } = standing;
      if (standing.isEligible(position)) candidates.push(rankedVisit(source, position));
      else if (standing.failed) {
        const { source: id, repetition } = source;
        failures.push({ source: id, repetition, position, wholeCost: suffixCost(source, 0) });
      }
    });
    this.matched = matched;
    this.candidates = candidates.length > 1 ? candidates.sort(compareRanked) : candidates;
    this.failures = failures;
  }

  visits(): PreparedVisit[] {
    const visits: PreparedVisit[] = [];
    this.#graph.forEachVisit(this.#node, (r, position) => {
      const standing = this.#standings[r]!;
      const failed = standing.failedTests(position);
      const { source } = standing;
      const terminal = position === source.decisions.length;
      visits.push({ ...rankedVisit(source, position), terminal, reasons: reasonsOf(failed), rank: null });
    });
    const ranked = visits.filter(({ reasons }) => reasons.length === 0).sort(compareRanked);
    ranked.forEach((visit, place) => {
      visit.rank = place + 1;
    });
    return visits;
  }
}

function rankedVisit(source: Source, position: number): RankedVisit {
  const { source: id, repetition } = source;
  return { source: id, repetition, position, cost: suffixCost(source, position) };
}

function unaligned(sources: readonly Source[]): Fallback | null {
  const found = least(sources, (source) => suffixCost(source, 0));
  return found === null ? null : { source: found.source, relation: "unaligned" };
}

function unverified(sources: readonly Source[], cost: (source: Source) => number): Fallback | null {
  const found = least(sources, cost);
  return found === null ? null : { source: found.source, relation: "unverified" };
}

/** Tries of a raw record: its decisions and its noncommitted attempts. */
function triesOf({ decisions }: Source): number {
  return decisions.reduce((tries, decision) => tries + 1 + decision.attempts.length, 0);
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
