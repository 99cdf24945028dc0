/** Which environment a foreign recording comes from, where its format does not say. */

const NAMES: Record<string, string> = { sciworld: "scienceworld", alfred: "alfworld" };

/** The name that records use for an environment that a format calls `name`. */
export function environmentName(name: string): string {
  const lower = name.toLowerCase();
  return NAMES[lower] ?? lower;
}

/** Name for recordings that give no hint; records of it are kept, but no rules apply to them. */
export const UNKNOWN_ENVIRONMENT = "custom";

const WEBSHOP_ACTION = /^(search|click)\[[^\]]*\]$/;

type Mark = readonly [name: string, mark: RegExp];

/** Phrases that only one environment has. */
const MARKS: readonly Mark[] = [
  ["alfworld", /TextWorld, ALFRED|Looking quickly around you, you see/],
  ["webshop", /\[button\]|\[button_\]|\bWebShop\b|\[SEP\] *Instruction:/],
  [
    "scienceworld",
    /This room is called|This outside location is called|ScienceWorld|text world of science|No known action matches that input\./,
  ],
];

/** Turns of phrase that show an environment where none of the above does: a later decision without its history. */
const HINTS: readonly Mark[] = [
  [
    "scienceworld",
    /a substance called |\(that is (?:open|closed)\)|\(containing nothing\)|, which is turned (?:on|off)\b/,
  ],
  [
    "alfworld",
    /You arrive at [a-z]+ \d+\.|You are facing the [a-z]+ \d+\.|\bput some [a-z]+ (?:on|in) [a-z]+\./,
  ],
];

function marked(texts: readonly string[], marks: readonly Mark[]): string | undefined {
  for (const text of texts) for (const [name, mark] of marks) if (mark.test(text)) return name;
  return undefined;
}

/**
 * The environment of a recording whose format does not name it: what an environment's own phrases or actions show, else
 * the one that was given for the import, else what turns of phrase suggest. Undefined where nothing tells.
 */
export function untoldEnvironment(
  given: string | undefined,
  texts: readonly string[],
  actions: Iterable<string | null> = [],
): string | undefined {
  return surelyRecognised(texts, actions) ?? given ?? marked(texts, HINTS);
}

function surelyRecognised(texts: readonly string[], actions: Iterable<string | null>): string | undefined {
  const sure = marked(texts, MARKS);
  if (sure !== undefined) return sure;
  for (const action of actions) if (action !== null && WEBSHOP_ACTION.test(action)) return "webshop";
  return undefined;
}
