/**
 * A place as the hash of the URL. `parsePlace` checks the form on entry (whether a task or an episode with that name
 * exists is checked later, against the library); nonsense gives a sentence, not a crash. `formatPlace` writes the
 * shortest hash that `parsePlace` reads back as the same place.
 */

import type { EvidencePart } from "../../core/evidence/types.ts";
import { EVIDENCE_RECORDS } from "../../core/evidence/types.ts";
import { isOneOf } from "../../core/one-of.ts";
import { formatPin, parsePin } from "../../core/retrieval/pin.ts";
import { CONTROLS, SOURCE_BUDGETS } from "../../core/retrieval/selection.ts";
import { checkAddress } from "../base/address.ts";
import { shownName } from "../base/text/shown-text.ts";
import { MOST_LINK_TEXT, packText, TEXT_LEFT_OUT, unpackText } from "./evidence-text.ts";
import { withHalves, withoutHalves } from "./halves.ts";
import {
  AXES,
  CHANGE_SORTS,
  type ComparedVisit,
  type Comparison,
  HOME,
  MOST_FILES,
  MOST_HIGHLIGHTS,
  MOST_RUNS,
  MOST_SIDES,
  type Place,
  SIGNALS,
  SORT_KEYS,
  SUBSETS,
  VIEWS,
  type VisitRef,
} from "./place.ts";
import { isSideKey, parseEvidenceSide } from "./sides.ts";

const LIBRARY = /^(sample|own|own-[0-9a-f]{12})$/;
const RUN_ID = /^(page|train)-[0-9a-f]{12}$/;

export interface ParsedPlace {
  place: Place;
  /** One sentence for each part of the link that could not be read. */
  problems: string[];
}

function decode(text: string): string | null {
  try {
    return withHalves(decodeURIComponent(text));
  } catch {
    return null;
  }
}

/** A whole number from 0 in decimal digits, as `formatPlace` writes it. */
function index(text: string): number | null {
  return /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : null;
}

/**
 * A path below the worker's shared folder, by its spelling; the worker checks it again. A folder ends with a slash; a
 * slash alone is the shared folder itself.
 */
export function isSharedPath(path: string): boolean {
  if (path === "/") return true;
  return path
    .replace(/\/$/, "")
    .split("/")
    .every((part) => part !== "" && !part.startsWith(".") && !/[\\\0]/.test(part));
}

/** An address as `checkAddress` gives it; null for one that a page may not fetch. */
function fetchable(text: string): string | null {
  try {
    return checkAddress(text);
  } catch {
    return null;
  }
}

/** `source@position`; source ids may contain `@` themselves. */
function parseVisit(text: string): VisitRef | null {
  const at = text.lastIndexOf("@");
  const position = index(text.slice(at + 1));
  return at > 0 && position !== null ? { source: text.slice(0, at), position } : null;
}

/** `source:teacher:0@3` or `episode:e-17@4`. */
function parseCompared(text: string): ComparedVisit | null {
  const colon = text.indexOf(":");
  const kind = text.slice(0, colon);
  const visit = parseVisit(text.slice(colon + 1));
  if (visit === null || (kind !== "source" && kind !== "episode")) return null;
  return { kind, id: visit.source, position: visit.position };
}

/** `success` is a whole record, `success@3` an event of it. */
function parsePart(text: string): EvidencePart | null {
  const [record = "", event, ...rest] = text.split("@");
  if (!isOneOf(EVIDENCE_RECORDS, record) || rest.length > 0) return null;
  if (event === undefined) return { record, event: null };
  const position = index(event);
  return position === null || record === "note" ? null : { record, event: position };
}

/** `with:success-only,with:graph:k4`, each once. */
function parseSides(text: string): string[] | null {
  const keys = text.split(",");
  const known = keys.every((key, i) => parseEvidenceSide(key) !== null && keys.indexOf(key) === i);
  return known && keys.length <= MOST_SIDES ? keys : null;
}

/** `vanilla,graph`: base and side. */
function parseComparison(text: string): Comparison | null {
  const [base = "", side = "", ...rest] = text.split(",");
  return rest.length === 0 && isSideKey(base) && isSideKey(side) && base !== side ? { base, side } : null;
}

function formatPart({ record, event }: EvidencePart): string {
  return event === null ? record : `${record}@${event}`;
}

/** Characters of a value that could not be read which are shown. */
const MOST_SHOWN = 120;

/** What a link says, as a problem quotes it. */
const quoted = (text: string): string => `“${shownName(text, MOST_SHOWN)}”`;

const TEXT_PROBLEM =
  `The link’s “text=*” stands for an evidence that was edited by hand and takes more than ` +
  `${MOST_LINK_TEXT.toLocaleString("en")} characters of a link: drop the record file that was saved with it.`;

/**
 * Reads `#/view/task?key=value…`. An empty hash is the library. `kept` is the edited evidence that the hash was too
 * short for, where it is known from elsewhere.
 */
export function parsePlace(hash: string, kept: string | null = null): ParsedPlace {
  const problems: string[] = [];
  const place: Place = { ...HOME };
  const text = hash.replace(/^#?\/?/, "");
  const question = text.indexOf("?");
  const path = question < 0 ? text : text.slice(0, question);
  const [view = "", task, ...rest] = path.split("/");
  if (view !== "") {
    if (isOneOf(VIEWS, view)) place.view = view;
    else problems.push(`There is no view called ${quoted(view)}: expected ${VIEWS.join(", ")}.`);
  }
  if (rest.length > 0) problems.push(`The link goes on after the task: ${quoted(rest.join("/"))}.`);
  if (task !== undefined && task !== "") {
    const decoded = decode(task);
    if (decoded === null) problems.push(`The task in the link is not correctly escaped: ${quoted(task)}.`);
    else place.task = decoded;
  }
  const parameters = new URLSearchParams(question < 0 ? "" : text.slice(question + 1));
  const read: Record<string, (value: string) => boolean> = {
    library: (value) => {
      if (!LIBRARY.test(value)) return false;
      place.library = value;
      return true;
    },
    address: (value) => {
      const address = fetchable(value);
      if (address === null || place.disk.length > 0 || place.addresses.length >= MOST_FILES) return false;
      place.addresses = [...place.addresses, address];
      return true;
    },
    disk: (value) => {
      const alone = place.disk.length === 0 || ![...place.disk, value].some((path) => path.endsWith("/"));
      if (!isSharedPath(value) || !alone || place.addresses.length > 0) return false;
      if (place.disk.length >= MOST_FILES) return false;
      place.disk = [...place.disk, value];
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
    highlight: (value) => {
      const { highlights } = place;
      if (value === "" || highlights.includes(value) || highlights.length === MOST_HIGHLIGHTS) return false;
      place.highlights = [...highlights, value];
      return true;
    },
    beside: (value) => {
      const { compared } = place;
      const visit = parseCompared(value);
      if (visit === null || compared.length === 2) return false;
      place.compared = [...compared, visit];
      return true;
    },
    evidence: (value) => {
      place.part = parsePart(value);
      return place.part !== null;
    },
    sides: (value) => {
      const parsed = parseSides(value);
      if (parsed !== null) place.sides = parsed;
      return parsed !== null;
    },
    compare: (value) => {
      place.compare = parseComparison(value);
      return place.compare !== null;
    },
    signal: (value) => {
      if (!isOneOf(SIGNALS, value)) return false;
      place.signal = value;
      return true;
    },
    changes: (value) => {
      const key = value.replace(/^-/, "");
      if (!isOneOf(CHANGE_SORTS, key)) return false;
      place.changesSort = key;
      place.changesDescending = value.startsWith("-");
      return true;
    },
    run: (value) => {
      if (!RUN_ID.test(value)) return false;
      place.run = value;
      return true;
    },
    runs: (value) => {
      const ids = value.split(",");
      if (ids.length > MOST_RUNS || new Set(ids).size < ids.length || !ids.every((id) => RUN_ID.test(id)))
        return false;
      place.charted = ids;
      return true;
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
    "end-of-turn": (value) => {
      place.endOfTurn = value !== "off";
      return value === "off";
    },
    without: (value) => {
      if (value === "" || place.without.includes(value)) return false;
      place.without = [...place.without, value];
      return true;
    },
    pin: (value) => {
      place.pin = parsePin(value);
      return place.pin !== null;
    },
    "pin-failure": (value) => {
      place.pinFailure = parsePin(value);
      return place.pinFailure !== null;
    },
    "leave-out": (value) => {
      const part = parsePart(value);
      if (part === null || place.leaveOut.some((each) => formatPart(each) === value)) return false;
      place.leaveOut = [...place.leaveOut, part];
      return true;
    },
    text: (value) => {
      if (value === TEXT_LEFT_OUT) {
        place.text = kept;
        if (kept === null) problems.push(TEXT_PROBLEM);
        return true;
      }
      place.text = unpackText(value);
      return place.text !== null;
    },
    filter: (value) => {
      place.filter = value;
      return true;
    },
    show: (value) => {
      if (!isOneOf(SUBSETS, value)) return false;
      place.show = value;
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
    library: "sample, own, or own- and twelve hexadecimal digits",
    address: `an address that a page may fetch, at most ${MOST_FILES} of them and not beside “disk”`,
    disk: `the path of a file that the worker shares, or of a folder with / at its end, at most ${MOST_FILES} of them`,
    decision: "a whole number from 0",
    token: "a whole number from 0",
    visit: "source@position",
    beside: "source:NAME@position or episode:NAME@position, at most two of them",
    highlight: `a source's name, at most ${MOST_HIGHLIGHTS} of them and each once`,
    evidence: `one of ${EVIDENCE_RECORDS.join(", ")}, with @event after it for one event`,
    sides: `up to ${MOST_SIDES} names such as with:success-only or with:graph:k4, with commas between`,
    compare: "the names of two sides with a comma between, such as vanilla,graph",
    signal: `one of ${SIGNALS.join(", ")}`,
    changes: `one of ${CHANGE_SORTS.join(", ")}, with - before it for descending`,
    run: "the id of a run, as train-4f1d0c9a2b7e",
    runs: `at most ${MOST_RUNS} ids of runs with a comma between them, each once`,
    axis: AXES.join(" or "),
    control: `one of ${CONTROLS.join(", ")}`,
    sources: `one of ${SOURCE_BUDGETS.join(", ")}`,
    augmentation: "off",
    "terminal-note": "on",
    "end-of-turn": "off",
    without: "the name of a source, each once",
    pin: "source@position",
    "pin-failure": "source@position",
    "leave-out": `one of ${EVIDENCE_RECORDS.join(", ")}, with @event after it for one event, each once`,
    text: "an edited evidence as the page writes it",
    show: `one of ${SUBSETS.join(", ")}`,
    sort: `one of ${SORT_KEYS.join(", ")}, with - before it for descending`,
  };
  for (const [key, escaped] of parameters) {
    const value = withHalves(escaped);
    const reader = Object.hasOwn(read, key) ? read[key] : undefined;
    const before = { ...place };
    if (reader === undefined) problems.push(`The link has an unknown part ${quoted(key)}.`);
    else if (!reader(value)) {
      // Nothing of a refused value is used.
      Object.assign(place, before);
      problems.push(`${quoted(`${key}=${value}`)} in the link: expected ${expected[key] ?? "a name"}.`);
    }
  }
  return { place, problems };
}

/** The hash of a place, without what is as it was by default. */
export function formatPlace(place: Place): string {
  const parameters = new URLSearchParams();
  const set = (key: string, value: string | null | undefined, standard = ""): void => {
    if (value !== null && value !== undefined && value !== standard)
      parameters.set(key, withoutHalves(value));
  };
  set("library", place.library);
  for (const path of place.disk) parameters.append("disk", withoutHalves(path));
  for (const address of place.addresses) parameters.append("address", withoutHalves(address));
  set("environment", place.environment);
  set("episode", place.episode);
  set("decision", String(place.decision), "0");
  set("visit", place.visit && `${place.visit.source}@${place.visit.position}`);
  for (const { kind, id, position } of place.compared) {
    parameters.append("beside", withoutHalves(`${kind}:${id}@${position}`));
  }
  for (const source of place.highlights) parameters.append("highlight", withoutHalves(source));
  set("token", place.token === null ? null : String(place.token));
  set("evidence", place.part && formatPart(place.part));
  set("sides", place.sides.length === 0 ? null : place.sides.join(","));
  set("compare", place.compare && `${place.compare.base},${place.compare.side}`);
  set("signal", place.signal, HOME.signal);
  set("changes", `${place.changesDescending ? "-" : ""}${place.changesSort}`, `-${HOME.changesSort}`);
  set("run", place.run);
  set("runs", place.charted.join(","));
  set("axis", place.axis, HOME.axis);
  set("control", place.control, HOME.control);
  set("sources", place.budget === null ? null : String(place.budget));
  set("augmentation", place.augmentation ? null : "off");
  set("terminal-note", place.terminalNote ? "on" : null);
  set("end-of-turn", place.endOfTurn ? null : "off");
  for (const source of place.without) parameters.append("without", withoutHalves(source));
  set("pin", place.pin && formatPin(place.pin));
  set("pin-failure", place.pinFailure && formatPin(place.pinFailure));
  for (const part of place.leaveOut) parameters.append("leave-out", formatPart(part));
  set("text", place.text === null ? null : (packText(place.text) ?? TEXT_LEFT_OUT));
  set("filter", place.filter);
  set("show", place.show, HOME.show);
  set("sort", `${place.descending ? "-" : ""}${place.sort}`, HOME.sort);
  const task = place.task === null ? "" : `/${encodeURIComponent(withoutHalves(place.task))}`;
  const query = parameters.toString();
  return `#/${place.view}${task}${query === "" ? "" : `?${query}`}`;
}
