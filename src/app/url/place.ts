/**
 * Where the user is: everything worth sharing. `link.ts` writes it as the hash of the URL and reads it back.
 */
import type { EvidencePart } from "../../core/evidence/types.ts";
import { NO_WHAT_IF, type WhatIfFields } from "./what-if.ts";

export const VIEWS = [
  "library",
  "task",
  "tokens",
  "training",
  "statistics",
  "runs",
  "play",
  "evidence-test",
] as const;
export type View = (typeof VIEWS)[number];

export const SORT_KEYS = [
  "task",
  "sources",
  "successes",
  "failures",
  "states",
  "shared",
  "episodes",
  "matched",
  "fallback",
  "delta",
] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** Which tasks the library table shows, beside those that have the words of the filter. */
export const SUBSETS = ["all", "episodes", "successes", "no-success", "fallback", "scored"] as const;
export type Subset = (typeof SUBSETS)[number];

/** x of the state graph: step of the first visit, or least remaining cost to a recorded success. */
export const AXES = ["step", "cost"] as const;
export type Axis = (typeof AXES)[number];

/** What the token strip shows of each token. */
export const SIGNALS = ["delta", "p", "logp", "rank", "entropy", "gap"] as const;
export type Signal = (typeof SIGNALS)[number];

/** By what the table of the largest changes across decisions is sorted; `change` is |Δ|. */
export const CHANGE_SORTS = ["change", "signed", "decision", "token", "vanilla", "graph"] as const;
export type ChangeSort = (typeof CHANGE_SORTS)[number];

/** Most runs on one chart; seeds of one config may share a curve. */
export const MOST_RUNS = 32;

/** Most further sides that an address may ask for. */
export const MOST_SIDES = 8;

/** Most files of the worker's disk, or addresses, that a link may open. */
export const MOST_FILES = 32;

/** Δ is log p of `side` − log p of `base`; both are keys of sides. */
export interface Comparison {
  base: string;
  side: string;
}

/** So many executions have a hue and a dash pattern of their own. */
export const MOST_HIGHLIGHTS = 6;

export interface VisitRef {
  source: string;
  position: number;
}

/** Any visit, of a recorded execution or of a student episode of the same task. */
export interface ComparedVisit {
  kind: "source" | "episode";
  id: string;
  position: number;
}

/** What the address names: all that is looked at, and what differs there from the full method. */
export interface Place extends WhatIfFields {
  view: View;
  /**
   * Which library the names below belong to: `sample`, `miniature`, `own`, or `own-` with twelve hexadecimal digits for files that
   * were dropped or picked. See library-link.ts.
   */
  library: string | null;
  /** Files of the folder that the worker shares, which open by themselves; none for what was dropped or picked. */
  disk: readonly string[];
  /** Addresses that it was opened from, which open by themselves too. */
  addresses: readonly string[];
  task: string | null;
  /** Only needed where two environments use one task name. */
  environment: string | null;
  episode: string | null;
  decision: number;
  /** A pinned visit (r, j). */
  visit: VisitRef | null;
  /** Sources whose paths are drawn in colours of their own, at most `MOST_HIGHLIGHTS`, each once. */
  highlights: readonly string[];
  /** Visits set beside each other: one waits for another, two are compared. */
  compared: readonly ComparedVisit[];
  /** The part of the evidence that is pointed at. */
  part: EvidencePart | null;
  /** Index of the pinned response token. */
  token: number | null;
  /** Further sides of the tokens view: keys of `evidenceSideKey`, without the three that are always there. */
  sides: readonly string[];
  /** Which two sides are compared; null: the graph-conditioned teacher with the vanilla one. */
  compare: Comparison | null;
  signal: Signal;
  /** Order of the largest changes across many decisions. */
  changesSort: ChangeSort;
  changesDescending: boolean;
  /** The training run that is looked at. */
  run: string | null;
  /** The runs on one chart, in the order of their numbers. */
  charted: readonly string[];
  /** Column by which the table of runs is sorted, with - before it for descending. */
  runsSort: string;
  /** Key of the column that groups them, "config" for runs that differ by their seed alone, "tag", or "" for no groups. */
  runsGroup: string;
  /** Only runs with all of these tags are listed. */
  runsTags: readonly string[];
  axis: Axis;
  /** A response that was recorded as text is read with the end-of-turn token after it, as a rollout samples it. */
  endOfTurn: boolean;
  filter: string;
  show: Subset;
  sort: SortKey;
  descending: boolean;
}

export const HOME: Place = {
  view: "library",
  library: null,
  disk: [],
  addresses: [],
  task: null,
  environment: null,
  episode: null,
  decision: 0,
  visit: null,
  highlights: [],
  compared: [],
  part: null,
  token: null,
  sides: [],
  compare: null,
  signal: "delta",
  changesSort: "change",
  changesDescending: true,
  run: null,
  charted: [],
  runsSort: "-started",
  runsGroup: "",
  runsTags: [],
  axis: "step",
  endOfTurn: true,
  ...NO_WHAT_IF,
  filter: "",
  show: "all",
  sort: "task",
  descending: false,
};
