/**
 * The outline of a source or episode line, taken from its bytes without parsing it: the scanner walks the keys of the
 * top level and passes over everything inside. It vouches for what it returns and for nothing else; whatever it is not
 * sure of (an escaped key, odd structure, a value of the wrong type) it leaves to the full reader by returning null.
 */
import { parseJsonText } from "../../core/json.ts";
import type { Outcome, Source } from "../../core/record/schema.ts";
import { hasUnknownOutcome } from "../../core/record/standing.ts";
import { findByte, viewOf } from "../find-byte.ts";
import type { Outline } from "./types.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Set in `{` and `}`, clear in `[` and `]`, which are otherwise the same. */
const BRACE_BIT = 0x20;

const KEYS = [
  "format",
  "environment",
  "task",
  "task_description",
  "source",
  "episode",
  "repetition",
  "origin",
  "decisions",
  "outcome",
  "outcome_unknown",
] as const;
type Key = (typeof KEYS)[number];

const KEY_BYTES = KEYS.map((key) => new TextEncoder().encode(key));
const DECISIONS = KEYS.indexOf("decisions");

const ORIGINS: ReadonlySet<unknown> = new Set(["teacher", "planner", "oracle", "human", "other"]);
const ENDS: ReadonlySet<unknown> = new Set(["environment", "horizon", "technical"]);

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export class Scanner {
  readonly #starts = new Int32Array(KEYS.length);
  readonly #ends = new Int32Array(KEYS.length);
  readonly #memory = KEYS.map(() => new Remembered());
  /** Arrays or objects directly inside the value that `#pass` went over last. */
  #inside = 0;
  #decisions = 0;

  /** The outline of one line, or null where only the full reader can tell what the line holds. Never throws. */
  outline(bytes: Uint8Array): Outline | null {
    if (!this.#scan(bytes)) return null;
    try {
      return this.#read(bytes);
    } catch {
      // JSON or UTF-8 that does not hold: the full reader says where and why.
      return null;
    }
  }

  /** Finds the values of the wanted keys; of a key that comes twice the last counts, as in `JSON.parse`. */
  #scan(bytes: Uint8Array): boolean {
    const { length } = bytes;
    const view = viewOf(bytes);
    this.#starts.fill(-1);
    let at = skipSpace(bytes, 0);
    if (bytes[at] !== OPEN_BRACE) return false;
    at = skipSpace(bytes, at + 1);
    for (;;) {
      if (bytes[at] !== QUOTE) return false;
      const keyStart = at + 1;
      at = keyStart;
      while (at < length && bytes[at] !== QUOTE) {
        if (bytes[at] === BACKSLASH) return false;
        at++;
      }
      const key = keyAt(bytes, keyStart, at);
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== COLON) return false;
      const start = skipSpace(bytes, at + 1);
      const end = this.#pass(bytes, view, start);
      if (end < 0) return false;
      if (key >= 0) {
        this.#starts[key] = start;
        this.#ends[key] = end;
        if (key === DECISIONS) this.#decisions = this.#inside;
      }
      at = skipSpace(bytes, end);
      if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
      else if (bytes[at] === CLOSE_BRACE) return skipSpace(bytes, at + 1) === length;
      else return false;
    }
  }

  /** The end of the value that starts at `start`, or -1. This loop sees every byte of the file. */
  #pass(bytes: Uint8Array, view: DataView, start: number): number {
    const { length } = bytes;
    let at = start;
    let depth = 0;
    let inside = 0;
    while (at < length) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        // To the quote that closes the string: one with an even number of backslashes before it.
        const content = at + 1;
        for (at = content; ; at++) {
          at = findByte(view, length, QUOTE, at);
          if (at < 0) return -1;
          let backslashes = at;
          while (backslashes > content && bytes[backslashes - 1] === BACKSLASH) backslashes--;
          if (((at - backslashes) & 1) === 0) break;
        }
        at++;
        if (depth === 0) return at;
      } else if (byte >= OPEN_BRACKET) {
        const bracket = byte | BRACE_BIT;
        at++;
        if (bracket === OPEN_BRACE) {
          if (depth === 1) inside++;
          depth++;
        } else if (bracket === CLOSE_BRACE) {
          // The end of the object that holds a bare value (a number, `null`) is not part of the value.
          if (depth === 0) return at - 1 === start ? -1 : at - 1;
          depth--;
          if (depth === 0) {
            this.#inside = inside;
            return at;
          }
        }
      } else {
        if (depth === 0 && (byte === COMMA || byte <= 0x20)) return at === start ? -1 : at;
        at++;
      }
    }
    return -1;
  }

  #read(bytes: Uint8Array): Outline | null {
    const format = this.#text(bytes, "format");
    const kind =
      format === "gcopd.source.v1" ? "source" : format === "gcopd.episode.v1" ? "episode" : undefined;
    const environment = this.#text(bytes, "environment");
    const task = this.#text(bytes, "task");
    const description = this.#text(bytes, "task_description");
    if (kind === undefined || environment === undefined || task === undefined || description === undefined) {
      return null;
    }
    const id = this.#text(bytes, kind);
    const decisions = this.#starts[DECISIONS]!;
    const outcome = this.#value(bytes, "outcome");
    if (id === undefined || decisions < 0 || bytes[decisions] !== OPEN_BRACKET || !isOutcome(outcome))
      return null;
    const { complete, success, verified, score, ended, reported_success } = outcome;
    const outline: Outline = {
      kind,
      environment,
      task,
      description,
      id,
      decisions: this.#decisions,
      complete,
      success,
      verified,
      score,
      ended,
    };
    if (reported_success !== undefined) outline.reported_success = reported_success;
    if (hasUnknownOutcome({ outcome, outcome_unknown: this.#value(bytes, "outcome_unknown") }))
      outline.outcome_unknown = true;
    if (kind === "episode") return outline;
    const repetition = this.#value(bytes, "repetition");
    const origin = this.#value(bytes, "origin");
    if (!Number.isSafeInteger(repetition) || !isOrigin(origin)) return null;
    outline.repetition = repetition as number;
    outline.origin = origin.kind;
    return outline;
  }

  /** Not to be written to: an equal value of a later line may be the same object. */
  #value(bytes: Uint8Array, key: Key): unknown {
    const place = KEYS.indexOf(key);
    const start = this.#starts[place]!;
    return start < 0 ? undefined : this.#memory[place]!.parse(bytes, start, this.#ends[place]!);
  }

  /** The value of a key when it is a string, else undefined. */
  #text(bytes: Uint8Array, key: Key): string | undefined {
    const place = KEYS.indexOf(key);
    const start = this.#starts[place]!;
    const end = this.#ends[place]!;
    if (start < 0 || bytes[start] !== QUOTE) return undefined;
    return this.#memory[place]!.parse(bytes, start, end) as string;
  }
}

/** Parses the values of one key. Lines of one task follow each other and repeat most of them: the last one is kept. */
class Remembered {
  #bytes = new Uint8Array(0);
  #value: unknown;

  /** The JSON value in bytes [start, end), at least one. Throws where it is none, or no UTF-8. */
  parse(bytes: Uint8Array, start: number, end: number): unknown {
    if (!this.#isLast(bytes, start, end)) {
      const own = bytes.slice(start, end);
      this.#value = parseJsonText(decoder.decode(own), { file: "" });
      this.#bytes = own;
    }
    return this.#value;
  }

  #isLast(bytes: Uint8Array, start: number, end: number): boolean {
    const last = this.#bytes;
    if (last.length !== end - start) return false;
    for (let i = 0; i < last.length; i++) if (bytes[start + i] !== last[i]) return false;
    return true;
  }
}

/** As `outcomeSchema` has it, without its cost on every line. What this refuses, the schema judges. */
function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== "object" || value === null) return false;
  const { complete, success, verified, score, ended, reported_success } = value as Record<string, unknown>;
  return (
    typeof complete === "boolean" &&
    typeof success === "boolean" &&
    typeof verified === "boolean" &&
    (score === null || Number.isFinite(score)) &&
    ENDS.has(ended) &&
    (reported_success === undefined || typeof reported_success === "boolean")
  );
}

function isOrigin(value: unknown): value is Source["origin"] {
  return typeof value === "object" && value !== null && ORIGINS.has((value as { kind?: unknown }).kind);
}

function skipSpace(bytes: Uint8Array, at: number): number {
  while (at < bytes.length) {
    const byte = bytes[at];
    // JSON's white space and no other; a line holds no line feed.
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) break;
    at++;
  }
  return at;
}

/** Place in `KEYS` of the bytes [start, end), or -1. */
function keyAt(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  next: for (let key = 0; key < KEY_BYTES.length; key++) {
    const wanted = KEY_BYTES[key]!;
    if (wanted.length !== length) continue;
    for (let i = 0; i < length; i++) if (bytes[start + i] !== wanted[i]) continue next;
    return key;
  }
  return -1;
}
