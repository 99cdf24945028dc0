/**
 * Where the user is: everything worth sharing, as the hash of the URL. `parsePlace` checks the form on entry (whether
 * a task or an episode of that name exists is checked later, against the library); nonsense gives a sentence, not a
 * crash. `formatPlace` writes the shortest hash that `parsePlace` reads back as the same place.
 */
import { CONTROLS, SOURCE_BUDGETS } from "../../core/retrieval/selection.ts";
import type { Control } from "../../core/retrieval/types.ts";
import { type Budget, NO_WHAT_IF } from "./what-if.ts";

export const VIEWS = ["library", "task", "tokens", "training", "statistics"] as const;
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
] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** x of the state graph: step of the first visit, or least remaining cost to a recorded success. */
export const AXES = ["step", "cost"] as const;
export type Axis = (typeof AXES)[number];

export interface VisitRef {
  source: string;
  position: number;
}

export interface Place {
  view: View;
  /** Which library the names below belong to: the sample opens by itself, own files must be dropped again. */
  library: "sample" | "own" | null;
  task: string | null;
  /** Only needed where two environments use one task name. */
  environment: string | null;
  episode: string | null;
  decision: number;
  /** A pinned visit (r, j). */
  visit: VisitRef | null;
  /** Index of the pinned response token. */
  token: number | null;
  axis: Axis;
  /** The paper's ablations: `graph` is the full method. */
  control: Control;
  /** Source budget K; null takes every recorded execution. */
  budget: Budget;
  /** Planner and oracle records take part. */
  augmentation: boolean;
  /** The last decision of an episode that failed by itself says so. */
  terminalNote: boolean;
  filter: string;
  sort: SortKey;
  descending: boolean;
}

export const HOME: Place = {
  view: "library",
  library: null,
  task: null,
  environment: null,
  episode: null,
  decision: 0,
  visit: null,
  token: null,
  axis: "step",
  ...NO_WHAT_IF,
  filter: "",
  sort: "task",
  descending: false,
};

export interface ParsedPlace {
  place: Place;
  /** One sentence for each part of the link that could not be read. */
  problems: string[];
}

function isOneOf<T extends string>(values: readonly T[], text: string): text is T {
  return (values as readonly string[]).includes(text);
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A whole number from 0 in decimal digits, as `formatPlace` writes it. */
function index(text: string): number | null {
  return /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : null;
}

/** `source@position`; source ids may contain `@` themselves. */
function parseVisit(text: string): VisitRef | null {
  const at = text.lastIndexOf("@");
  const position = index(text.slice(at + 1));
  return at > 0 && position !== null ? { source: text.slice(0, at), position } : null;
}

/** Reads `#/view/task?key=value…`. An empty hash is the library. */
export function parsePlace(hash: string): ParsedPlace {
  const problems: string[] = [];
  const place: Place = { ...HOME };
  const text = hash.replace(/^#?\/?/, "");
  const question = text.indexOf("?");
  const path = question < 0 ? text : text.slice(0, question);
  const [view = "", task, ...rest] = path.split("/");
  if (view !== "") {
    if (isOneOf(VIEWS, view)) place.view = view;
    else problems.push(`There is no view called “${view}”: expected ${VIEWS.join(", ")}.`);
  }
  if (rest.length > 0) problems.push(`The link goes on after the task: “${rest.join("/")}”.`);
  if (task !== undefined && task !== "") {
    const decoded = decode(task);
    if (decoded === null) problems.push(`The task in the link is not correctly escaped: “${task}”.`);
    else place.task = decoded;
  }
  const parameters = new URLSearchParams(question < 0 ? "" : text.slice(question + 1));
  const read: Record<string, (value: string) => boolean> = {
    library: (value) => {
      if (value !== "sample" && value !== "own") return false;
      place.library = value;
      return true;
    },
    environment: (value) => {
      place.environment = value;
      return value !== "";
    },
    task: (value) => {
      place.task = value;
      return value !== "";
    },
    episode: (value) => {
      place.episode = value;
      return value !== "";
    },
    decision: (value) => {
      const parsed = index(value);
      if (parsed !== null) place.decision = parsed;
      return parsed !== null;
    },
    token: (value) => {
      place.token = index(value);
      return place.token !== null;
    },
    visit: (value) => {
      place.visit = parseVisit(value);
      return place.visit !== null;
    },
    axis: (value) => {
      if (!isOneOf(AXES, value)) return false;
      place.axis = value;
      return true;
    },
    control: (value) => {
      if (!isOneOf(CONTROLS, value)) return false;
      place.control = value;
      return true;
    },
    sources: (value) => {
      const budget = SOURCE_BUDGETS.find((k) => String(k) === value);
      if (budget !== undefined) place.budget = budget;
      return budget !== undefined;
    },
    augmentation: (value) => {
      place.augmentation = value !== "off";
      return value === "off";
    },
    "terminal-note": (value) => {
      place.terminalNote = value === "on";
      return value === "on";
    },
    filter: (value) => {
      place.filter = value;
      return true;
    },
    sort: (value) => {
      const key = value.replace(/^-/, "");
      if (!isOneOf(SORT_KEYS, key)) return false;
      place.sort = key;
      place.descending = value.startsWith("-");
      return true;
    },
  };
  const expected: Record<string, string> = {
    library: "sample or own",
    decision: "a whole number from 0",
    token: "a whole number from 0",
    visit: "source@position",
    axis: AXES.join(" or "),
    control: `one of ${CONTROLS.join(", ")}`,
    sources: `one of ${SOURCE_BUDGETS.join(", ")}`,
    augmentation: "off",
    "terminal-note": "on",
    sort: `one of ${SORT_KEYS.join(", ")}, with - before it for descending`,
  };
  for (const [key, value] of parameters) {
    const reader = Object.hasOwn(read, key) ? read[key] : undefined;
    if (reader === undefined) problems.push(`The link has an unknown part “${key}”.`);
    else if (!reader(value)) {
      problems.push(`“${key}=${value}” in the link: expected ${expected[key] ?? "a name"}.`);
    }
  }
  return { place, problems };
}

/** The hash of a place, without what is as it was by default. */
export function formatPlace(place: Place): string {
  const parameters = new URLSearchParams();
  const set = (key: string, value: string | null | undefined, standard = ""): void => {
    if (value !== null && value !== undefined && value !== standard) parameters.set(key, value);
  };
  set("library", place.library);
  set("environment", place.environment);
  set("episode", place.episode);
  set("decision", String(place.decision), "0");
  set("visit", place.visit && `${place.visit.source}@${place.visit.position}`);
  set("token", place.token === null ? null : String(place.token));
  set("axis", place.axis, HOME.axis);
  set("control", place.control, HOME.control);
  set("sources", place.budget === null ? null : String(place.budget));
  set("augmentation", place.augmentation ? null : "off");
  set("terminal-note", place.terminalNote ? "on" : null);
  set("filter", place.filter);
  set("sort", `${place.descending ? "-" : ""}${place.sort}`, HOME.sort);
  const task = place.task === null ? "" : `/${encodeURIComponent(place.task)}`;
  const query = parameters.toString();
  return `#/${place.view}${task}${query === "" ? "" : `?${query}`}`;
}
