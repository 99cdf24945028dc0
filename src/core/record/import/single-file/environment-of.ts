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

const MARKS: [string, RegExp][] = [
  ["alfworld", /TextWorld, ALFRED|Looking quickly around you, you see/],
  ["webshop", /\[button\]|\[button_\]|\bWebShop\b|\[SEP\] *Instruction:/],
  [
    "scienceworld",
    /This room is called|This outside location is called|ScienceWorld|text world of science|No known action matches that input\./,
  ],
];

/** The environment whose fixed phrases the texts, or the form of the actions, show; undefined when none do. */
export function recogniseEnvironment(
  texts: Iterable<string>,
  actions: Iterable<string | null> = [],
): string | undefined {
  for (const text of texts) for (const [name, mark] of MARKS) if (mark.test(text)) return name;
  for (const action of actions) if (action !== null && WEBSHOP_ACTION.test(action)) return "webshop";
  return undefined;
}
