/**
 * Retrieval by plain search, straight from the definitions of Section 3.3 and its appendix: no graph, no index, no
 * ranking prepared ahead, nothing shared with `src/core/graph` or `src/core/retrieval`. The tests hold the real thing
 * to it and the benchmark compares speeds.
 */
import type { Episode, Reference, RetrievalRecord, Source, State } from "../../src/core/record/schema.ts";

export interface BruteForceRules {
  trustedSourcesOnly: boolean;
  planDecisions: number | null;
  admitsTerminalEntry: boolean;
  checksContinuity: boolean;
  testsUnalignedEntry: boolean;
  unverifiedFallback: boolean;
}

interface Found {
  source: Source;
  position: number;
}

const fold = (text: string): string =>
  text
    .split(/\s+/)
    .filter((word) => word !== "")
    .join(" ");

/** Two captured locators are the same: descriptor, mode, and every option of one among the other's, both ways. */
function same(a: State | null, b: State | null): boolean {
  if (!a || !b || a.key !== b.key || a.mode !== b.mode) return false;
  const left = Object.entries(a.options).map(([name, value]) => [fold(name), fold(value)]);
  const right = Object.entries(b.options).map(([name, value]) => [fold(name), fold(value)]);
  if (left.length !== right.length) return false;
  const count = (pairs: string[][], [name, value]: string[]) =>
    pairs.filter((pair) => pair[0] === name && pair[1] === value).length;
  return left.every((pair) => count(left, pair) === count(right, pair));
}

/** Every visit of every source at a locator. */
function matches(sources: readonly Source[], state: State | null): Found[] {
  const found: Found[] = [];
  for (const source of sources) {
    const states = [...source.decisions.map((decision) => decision.state), source.final_state];
    states.forEach((visited, position) => {
      if (same(visited, state)) found.push({ source, position });
    });
  }
  return found;
}

function eligible({ source, position }: Found, rules: BruteForceRules): boolean {
  const { complete, verified, success } = source.outcome;
  if (!(complete && verified && success)) return false;
  const suffix = source.decisions.slice(position);
  if (rules.checksContinuity) {
    for (let i = 1; i < suffix.length; i++) {
      if (suffix[i]!.gap_before) return false;
      if (fold(suffix[i - 1]!.feedback) !== fold(suffix[i]!.observation)) return false;
    }
  }
  if (suffix.length === 0) return rules.admitsTerminalEntry;
  const { status, action, binding, entry_allowed } = suffix[0]!;
  if (entry_allowed === false) return false;
  const acts = fold(action ?? "") !== "" || fold(binding ?? "") !== "";
  return acts && (status === "executed" || status === "binding");
}

const costOf = ({ source, position }: Found): number => source.decisions.slice(position).length;

/** The least element by a list of numbers and a last word, found by comparing it with each. */
function best<T>(items: readonly T[], rank: (item: T) => (number | string)[]): T | undefined {
  const before = (a: T, b: T): boolean => {
    const left = rank(a);
    const right = rank(b);
    const i = left.findIndex((value, place) => value !== right[place]);
    return i >= 0 && left[i]! < right[i]!;
  };
  return items.find((item) => !items.some((other) => before(other, item)));
}

const successRank = (found: Found) => [
  costOf(found),
  found.source.repetition,
  found.position,
  found.source.source,
];

const trusted = (s: Source) => s.outcome.complete && s.outcome.verified;
const claims = (s: Source) =>
  s.outcome.reported_success === undefined ? s.outcome.success : s.outcome.reported_success;
const failed = (s: Source) => trusted(s) && !s.outcome.success && !claims(s);

/** The record for decision t, by search alone. */
export function bruteForceRetrieve(
  recorded: readonly Source[],
  episode: Episode,
  t: number,
  rules: BruteForceRules,
): RetrievalRecord {
  const isPlan = (s: Source) => s.origin.kind === "planner" || s.origin.kind === "oracle";
  const goodPlan = (s: Source, most: number) =>
    trusted(s) && s.outcome.success && s.decisions.length > 0 && s.decisions.length <= most;
  const sources = recorded.filter(
    (s) =>
      (!rules.trustedSourcesOnly || trusted(s)) &&
      (rules.planDecisions === null || !isPlan(s) || goodPlan(s, rules.planDecisions)),
  );
  const matched = matches(sources, episode.decisions[t]!.state);
  let left = matched.filter((found) => eligible(found, rules));
  const candidates: Found[] = [];
  while (left.length > 0) {
    const next = best(left, successRank)!;
    candidates.push(next);
    left = left.filter((found) => found !== next);
  }
  const won = episode.outcome.success;
  const record: RetrievalRecord = {
    format: "gcopd.retrieval.v1",
    environment: episode.environment,
    task: episode.task,
    episode: episode.episode,
    decision: t,
    case: "unmatched_failure",
    matched_visits: matched.length,
    candidates: candidates.map((found) => ({
      source: found.source.source,
      position: found.position,
      cost: costOf(found),
    })),
    winner: null,
    success: null,
    failure: null,
  };
  if (candidates.length > 0) {
    record.case = "matched_success";
    const first = record.candidates[0]!;
    const own = episode.decisions.slice(t).length;
    if (won && own < first.cost) {
      record.winner = { kind: "student", cost: own };
    } else {
      record.winner = { kind: "source", ...first };
      const { source, position } = first;
      record.success = { source, position, student_position: t, relation: "current" };
    }
    return record;
  }
  if (matched.length === 0 && won) {
    record.case = "unmatched_success";
    return record;
  }
  if (matched.length > 0) record.case = "matched_no_success";
  record.success = success(sources, episode, t, rules);
  record.failure = failure(sources, episode, t, rules);
  return record;
}

function success(
  sources: readonly Source[],
  episode: Episode,
  t: number,
  rules: BruteForceRules,
): Reference | null {
  for (let u = t; u >= 0; u--) {
    const found = matches(sources, episode.decisions[u]!.state).filter((f) => eligible(f, rules));
    const first = best(found, successRank);
    if (first) {
      return {
        source: first.source.source,
        position: first.position,
        student_position: u,
        relation: "historical",
      };
    }
  }
  const wholes = sources
    .map((source) => ({ source, position: 0 }))
    .filter((found) =>
      rules.testsUnalignedEntry
        ? eligible(found, rules)
        : trusted(found.source) && found.source.outcome.success,
    );
  const whole = best(wholes, (f) => [costOf(f), f.source.repetition, f.source.source]);
  if (whole) return fallback(whole.source, "unaligned");
  if (!rules.unverifiedFallback || sources.some((s) => trusted(s) && s.outcome.success)) return null;
  const tries = (s: Source) => s.decisions.length + s.decisions.flatMap((d) => d.attempts).length;
  const raw = best(sources.filter(claims), (s) => [tries(s), s.repetition, s.source]);
  return raw ? fallback(raw, "unverified") : null;
}

function failure(
  sources: readonly Source[],
  episode: Episode,
  t: number,
  rules: BruteForceRules,
): Reference | null {
  for (let u = t; u >= 0; u--) {
    const found = matches(sources, episode.decisions[u]!.state).filter((f) => failed(f.source));
    const first = best(found, (f) => [
      Math.abs(f.position - u),
      f.source.decisions.length,
      f.source.repetition,
      f.position,
      f.source.source,
    ]);
    if (first) {
      return {
        source: first.source.source,
        position: first.position,
        student_position: u,
        relation: u === t ? "current" : "historical",
      };
    }
  }
  const whole = best(sources.filter(failed), (s) => [s.decisions.length, s.repetition, s.source]);
  if (whole) return fallback(whole, "unaligned");
  if (!rules.unverifiedFallback) return null;
  const raw = best(
    sources.filter((s) => !trusted(s) && !claims(s)),
    (s) => [s.repetition, s.source],
  );
  return raw ? fallback(raw, "unverified") : null;
}

function fallback(source: Source, relation: "unaligned" | "unverified"): Reference {
  return { source: source.source, position: null, student_position: null, relation };
}
