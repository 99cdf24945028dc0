/**
 * Whether a Split pattern of a tokenizer.json takes time in proportion to the text, whatever the text is. Regular
 * expressions of JavaScript try one way after the other, and a pattern such as `(a+)+$` has more ways than can be tried.
 *
 * The rule: once a match has entered a repetition without a bound, nothing after it may fail. Then no repetition is ever
 * gone back into, and the text that it took is never looked at again. Optional and bounded parts may be gone back into
 * `MOST_WAYS` times in all. The alternatives of published tokenizers that break the rule and are fast nevertheless,
 * since another alternative takes what they gave up on, are known by their text.
 */

/** Ways in which the parts of one alternative can match at one place. Published patterns have up to 12. */
const MOST_WAYS = 64;
/** Characters of the longest pattern. Published ones have up to 600. */
const LONGEST_PATTERN = 10_000;
/** Groups inside groups. Published patterns have two. */
const DEEPEST_GROUP = 20;

const SPACES = ["\\s+(?!\\S)", "\\s+"];
const LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
const UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
const WORD_START = "[^\\r\\n\\p{L}\\p{N}]?";
const ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";

/** Alternatives that may fail after a long match, and the ones that then match instead: one must be in the pattern. */
const KNOWN: ReadonlyMap<string, readonly string[]> = new Map([
  ["\\s+(?!\\S)", ["\\s+(?!\\S)"]],
  ["\\s+$", SPACES],
  ["\\s++$", SPACES],
  ["\\s*[\\r\\n]+", SPACES],
  ["\\s*[\\r\\n]", SPACES],
  ["\\s*(?:\\r?\\n)+", SPACES],
  // GPT-4o's words: capitals before small letters, or capitals alone.
  [`${WORD_START}${UPPER}*${LOWER}+`, [`${WORD_START}${UPPER}+${LOWER}*`]],
  [`${WORD_START}${UPPER}*${LOWER}+${ENDINGS}`, [`${WORD_START}${UPPER}+${LOWER}*${ENDINGS}`]],
]);

/** Why the pattern may take longer than its text allows, or cannot be judged; null for one that is linear. */
export function patternFault(pattern: string): string | null {
  if (pattern.length > LONGEST_PATTERN)
    return `has ${pattern.length} characters, at most ${LONGEST_PATTERN} are taken`;
  try {
    const parser = new PatternParser(pattern);
    judge(parser.whole(), { mayFailAfter: false, fixed: false });
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

class Fault extends Error {}

const VARIES = "repeats a part that can itself match in several ways";

/** Alternatives, each with its text. */
type Alternatives = { text: string; items: Item[] }[];

/** A character, a class, an escape or a group, and how often it stands there. */
interface Item {
  least: number;
  most: number;
  /** Null for a single character. */
  group: Alternatives | null;
  /** The group only looks ahead or behind. */
  looks: boolean;
}

interface Around {
  /** Something that comes after may fail and send the match back here. */
  mayFailAfter: boolean;
  /** Inside of a repetition or of a look around, where nothing may vary. */
  fixed: boolean;
}

interface Verdict {
  /** Ways in which it can match at one place; Infinity for a repetition without a bound. */
  ways: number;
  /** Matches at every place, if only nothing. */
  neverFails: boolean;
}

function judge(alternatives: Alternatives, around: Around): Verdict {
  const texts = new Set(alternatives.map(({ text }) => text));
  let [ways, neverFails] = [0, false];
  for (const { text, items } of alternatives) {
    const isLast = !around.mayFailAfter && !around.fixed;
    if (isLast && KNOWN.get(text)?.some((other) => texts.has(other))) continue;
    const verdict = judgeSequence(items, around);
    ways += verdict.ways;
    neverFails ||= verdict.neverFails;
  }
  return { ways, neverFails };
}

/** From its end to its beginning, since what comes after decides what each item may do. */
function judgeSequence(items: readonly Item[], around: Around): Verdict {
  let { mayFailAfter } = around;
  let [ways, neverFails] = [1, true];
  for (const item of items.toReversed()) {
    const verdict = judgeItem(item, { ...around, mayFailAfter });
    if (mayFailAfter && verdict.ways === Number.POSITIVE_INFINITY)
      throw new Fault("repeats a part without a bound before one that may fail");
    if (around.fixed && verdict.ways > 1) throw new Fault(VARIES);
    if (mayFailAfter) ways *= verdict.ways;
    if (ways > MOST_WAYS) throw new Fault(`can match in more than ${MOST_WAYS} ways at one place`);
    mayFailAfter ||= !verdict.neverFails;
    neverFails &&= verdict.neverFails;
  }
  return { ways, neverFails };
}

function judgeItem({ least, most, group, looks }: Item, around: Around): Verdict {
  const repeats = most > 1;
  let inner: Verdict = { ways: 1, neverFails: false };
  if (looks) judge(group ?? [], { mayFailAfter: true, fixed: true });
  else if (group !== null)
    inner = judge(group, {
      mayFailAfter: around.mayFailAfter || repeats,
      fixed: around.fixed || repeats,
    });
  if (repeats && around.mayFailAfter && inner.ways > 1) throw new Fault(VARIES);
  if (repeats && inner.neverFails) throw new Fault("repeats a part that can match nothing");
  return { ways: inner.ways + most - least, neverFails: least === 0 || inner.neverFails };
}

/** The syntax of Oniguruma, as far as tokenizers use it. */
class PatternParser {
  #at = 0;
  #depth = 0;

  constructor(private readonly pattern: string) {}

  whole(): Alternatives {
    const alternatives = this.#alternatives();
    if (this.#at < this.pattern.length) throw new Fault("has a ) without its (");
    return alternatives;
  }

  #alternatives(): Alternatives {
    const found: Alternatives = [];
    for (;;) {
      const start = this.#at;
      const items: Item[] = [];
      while (this.#at < this.pattern.length && !/[|)]/.test(this.pattern[this.#at]!))
        items.push(this.#item());
      found.push({ text: this.pattern.slice(start, this.#at), items });
      if (this.pattern[this.#at] !== "|") return found;
      this.#at++;
    }
  }

  #item(): Item {
    const opening = this.#take(/\((?:\?(?:i?:|<?[=!]|>|<[A-Za-z_]\w*>))?/y);
    let group: Alternatives | null = null;
    if (opening !== null) {
      if (this.pattern[this.#at] === "?") throw new Fault("has a group of an unknown kind");
      if (++this.#depth > DEEPEST_GROUP)
        throw new Fault(`has more than ${DEEPEST_GROUP} groups inside each other`);
      group = this.#alternatives();
      this.#depth--;
      if (this.#take(/\)/y) === null) throw new Fault("has a ( without its )");
    } else this.#character();
    return { ...this.#quantifier(), group, looks: /[=!]$/.test(opening ?? "") };
  }

  #character(): void {
    if (this.#take(/\\(?:[1-9]|[kgKXR])/y) !== null) throw new Fault("refers to another part of itself");
    if (this.pattern[this.#at] === "[") this.#class();
    else if (this.#escape() === null && this.#take(/./suy) === null) throw new Fault("ends too early");
  }

  #escape(): string | null {
    return this.#take(/\\(?:[pPxu]\{[^}]*\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|c[A-Za-z]|.)/suy);
  }

  #class(): void {
    let depth = 0;
    do {
      // A ] right at the beginning stands for itself.
      if (this.#take(/\[\^?\]?/y) !== null) depth++;
      else if (this.#take(/\]/y) !== null) depth--;
      else if (this.#escape() === null && this.#take(/./suy) === null)
        throw new Fault("has a [ without its ]");
    } while (depth > 0);
  }

  /** `?`, `*`, `+` or `{…}`, lazy and possessive ones among them; once where there is none. */
  #quantifier(): { least: number; most: number } {
    const text = this.#take(/(?:[?*+]|\{(?:\d+,?\d*|,\d+)\})[?+]?/y);
    if (text === null) return { least: 1, most: 1 };
    if (/[*{+?]/.test(this.pattern[this.#at] ?? "") && this.#take(/\{(?!\d|,\d)/y) === null)
      throw new Fault("has a quantifier behind a quantifier");
    if (text[0] !== "{")
      return { least: text[0] === "+" ? 1 : 0, most: text[0] === "?" ? 1 : Number.POSITIVE_INFINITY };
    const [least = "", most] = text.slice(1, text.indexOf("}")).split(",");
    return {
      least: Number(least),
      most: Number(most === undefined ? least : most === "" ? Number.POSITIVE_INFINITY : most),
    };
  }

  /** What a sticky expression matches here, taken; null where it does not. */
  #take(expression: RegExp): string | null {
    expression.lastIndex = this.#at;
    const text = expression.exec(this.pattern)?.[0] ?? null;
    if (text !== null) this.#at += text.length;
    return text;
  }
}
