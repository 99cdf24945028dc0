/** What can follow the task in an address: one entry for each key, in the order in which they are written. */
import { EVIDENCE_RECORDS, type EvidencePart } from "../../core/evidence/types.ts";
import { isOneOf } from "../../core/one-of.ts";
import { formatPin, parsePin } from "../../core/retrieval/pin.ts";
import { CONTROLS, SOURCE_BUDGETS } from "../../core/retrieval/selection.ts";
import { checkAddress } from "../base/address.ts";
import { type AddressKey, choice, each, flag, one, order } from "./address-key.ts";
import { packText, TEXT_LEFT_OUT, unpackText } from "./evidence-text.ts";
import { SHIPPED_LIBRARIES } from "./library-link.ts";
import {
  AXES,
  CHANGE_SORTS,
  type ComparedVisit,
  MOST_FILES,
  MOST_HIGHLIGHTS,
  MOST_RUNS,
  MOST_SIDES,
  SIGNALS,
  SORT_KEYS,
  SUBSETS,
  type VisitRef,
} from "./place.ts";
import { isSideKey, parseEvidenceSide } from "./sides.ts";
import { parseBudget, parseSubset, subsetText } from "./what-if.ts";

const LIBRARY = new RegExp(`^(${SHIPPED_LIBRARIES.join("|")}|own|own-[0-9a-f]{12})$`);
const RUN_ID = /^(page|train)-[0-9a-f]{12}$/;
const COUNT = "a whole number from 0";
const PART = `one of ${EVIDENCE_RECORDS.join(", ")}, with @event after it for one event`;

const parseName = (text: string): string | null => text || null;
const onceEach = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

function parseCount(text: string): number | null {
  return /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : null;
}

/** Texts with commas between them, each once. */
function parseList(text: string, most: number, known: (each: string) => boolean): string[] | null {
  const texts = text.split(",");
  return texts.length <= most && onceEach(texts) && texts.every(known) ? texts : null;
}

/**
 * A path below the worker's shared folder, by its spelling; the worker checks it again. A folder ends with a slash; a
 * slash alone is the shared folder itself.
 */
export function isSharedPath(path: string): boolean {
  if (path === "/") return true;
  const parts = path.replace(/\/$/, "").split("/");
  return parts.every((part) => part !== "" && !part.startsWith(".") && !/[\\\0]/.test(part));
}

/** An address as `checkAddress` gives it; null for one that a page may not fetch. */
function parseFetched(text: string): string | null {
  try {
    return checkAddress(text);
  } catch {
    return null;
  }
}

/** A pin on one visit, as `formatPin` writes it. */
function parseVisit(text: string): VisitRef | null {
  const { source = "", position = null } = parsePin(text) ?? {};
  return position !== null && formatPin({ source, position }) === text ? { source, position } : null;
}

/** `source:teacher:0@3` or `episode:e-17@4`. */
function parseCompared(text: string): ComparedVisit | null {
  const [kind = ""] = text.split(":", 1);
  const visit = parseVisit(text.slice(kind.length + 1));
  if (visit === null || !isOneOf(["source", "episode"], kind)) return null;
  return { kind, id: visit.source, position: visit.position };
}

/** `success` is a whole record, `success@3` an event of it; a note has no events. */
function parsePart(text: string): EvidencePart | null {
  const [record = "", ...events] = text.split("@");
  if (!isOneOf(EVIDENCE_RECORDS, record)) return null;
  if (events.length === 0) return { record, event: null };
  const event = record === "note" ? null : parseCount(events.join("@"));
  return event === null ? null : { record, event };
}

const formatPart = ({ record, event }: EvidencePart): string =>
  event === null ? record : `${record}@${event}`;

export const ADDRESS_KEYS: readonly AddressKey[] = [
  one(
    "library",
    "library",
    `${SHIPPED_LIBRARIES.join(", ")}, own, or own- and twelve hexadecimal digits`,
    (text) => (LIBRARY.test(text) ? text : null),
  ),
  each(
    "disk",
    "disk",
    `the path of a file that the worker shares, or of a folder with / at its end, at most ${MOST_FILES} of them`,
    (text) => (isSharedPath(text) ? text : null),
    // A folder stands alone.
    (paths, { addresses }) =>
      addresses.length === 0 &&
      paths.length <= MOST_FILES &&
      (paths.length === 1 || !paths.some((path) => path.endsWith("/"))),
  ),
  each(
    "address",
    "addresses",
    `an address that a page may fetch, at most ${MOST_FILES} of them and not beside “disk”`,
    parseFetched,
    (addresses, { disk }) => disk.length === 0 && addresses.length <= MOST_FILES,
  ),
  // Read only: the task is written before the keys.
  { ...one("task", "task", "a name", parseName), write: () => [] },
  one("environment", "environment", "a name", parseName),
  one("episode", "episode", "a name", parseName),
  one("decision", "decision", COUNT, parseCount),
  one("visit", "visit", "source@position", parseVisit, formatPin),
  each(
    "beside",
    "compared",
    "source:NAME@position or episode:NAME@position, at most two of them",
    parseCompared,
    (visits) => visits.length <= 2,
    ({ kind, id, position }) => `${kind}:${id}@${position}`,
  ),
  each(
    "highlight",
    "highlights",
    `a source's name, at most ${MOST_HIGHLIGHTS} of them and each once`,
    parseName,
    (sources) => sources.length <= MOST_HIGHLIGHTS && onceEach(sources),
  ),
  one("token", "token", COUNT, parseCount),
  one("evidence", "part", PART, parsePart, formatPart),
  one(
    "sides",
    "sides",
    `up to ${MOST_SIDES} names such as with:success-only or with:graph:k4, with commas between`,
    (text) => parseList(text, MOST_SIDES, (key) => parseEvidenceSide(key) !== null),
  ),
  one(
    "compare",
    "compare",
    "the names of two sides with a comma between, such as vanilla,graph",
    (text) => {
      const [base, side] = parseList(text, 2, isSideKey) ?? [];
      return base === undefined || side === undefined ? null : { base, side };
    },
    ({ base, side }) => `${base},${side}`,
  ),
  choice("signal", SIGNALS),
  order("changes", "changesSort", "changesDescending", CHANGE_SORTS),
  one("run", "run", "the id of a run, as train-4f1d0c9a2b7e", (text) => (RUN_ID.test(text) ? text : null)),
  one("runs", "charted", `at most ${MOST_RUNS} ids of runs with a comma between them, each once`, (text) =>
    parseList(text, MOST_RUNS, (id) => RUN_ID.test(id)),
  ),
  one("runs-sort", "runsSort", "a column's name, with - before it for descending", parseName),
  one("runs-group", "runsGroup", "config, tag or a column's name", parseName),
  each("tag", "runsTags", "a tag of runs, each once", parseName, onceEach),
  choice("axis", AXES, AXES.join(" or ")),
  choice("control", CONTROLS),
  one("sources", "sourcesPerTask", `one of ${SOURCE_BUDGETS.join(", ")}`, parseBudget),
  flag("augmentation", "augmentation"),
  one(
    "subset",
    "subset",
    "the shares of covered tasks and of failed records, from 0 to 1, and a seed, as 0.5,1,0",
    parseSubset,
    subsetText,
  ),
  flag("terminal-note", "terminalFailureNote"),
  flag("end-of-turn", "endOfTurn"),
  each("without", "without", "the name of a source, each once", parseName, onceEach),
  one("pin", "pin", "source@position", parsePin, formatPin),
  one("pin-failure", "pinFailure", "source@position", parsePin, formatPin),
  each("leave-out", "leaveOut", `${PART}, each once`, parsePart, onceEach, formatPart),
  // `*`, for a text that is too long, needs the text from elsewhere: `parsePlace` reads it.
  one(
    "text",
    "text",
    "an edited evidence as the page writes it",
    unpackText,
    (text) => packText(text) ?? TEXT_LEFT_OUT,
  ),
  one("filter", "filter", "any text", String),
  choice("show", SUBSETS),
  order("sort", "sort", "descending", SORT_KEYS),
];
