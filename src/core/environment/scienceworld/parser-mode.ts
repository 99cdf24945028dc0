/** The ScienceWorld parser's control state, folded over the feedback: at rest, before an open menu, or unknown. */

/** One entry of a visit's history: the observation after reset first, then one entry per decision. */
export interface FeedbackEntry {
  feedback: string;
  /** False where the decision never reached the simulator (an unreadable reply). */
  stepped: boolean;
}

export interface ParserState {
  mode: "normal" | "pending_menu" | "unknown";
  /** Number → what it stands for, white space folded; empty unless a menu is open. */
  options: Record<string, string>;
}

const OPTION_LINE = /^\s*(\d+)\s*:\s*(.+)$/;

const REJECTIONS = [
  /^No known action matches that input\./i,
  /^Unknown action\./i,
  /^I'm not sure how to use /i,
  /^It's not clear how to (?:read|flush) that\./i,
  /^That can't be moved there/i,
  /^You can't pick up a liquid directly\./i,
  /^The .+ does not contain any liquids to dunk into\./i,
  /^The .+ is not (?:openable|closeable|moveable|open)\./i,
  /^The .+ is not something that can be activated\./i,
  /^The .+ isn't open, so you can't see inside\./i,
  /^That container is empty, so there are no items to mix\./i,
  /^There is only one thing \(/i,
];

const REFUSALS = [
  ...REJECTIONS,
  /^No known action/i,
  /^Unknown action/i,
  /^I'm not sure/i,
  /^You must /i,
  /^The .+ (?:is not|isn't)/i,
  /^That can't/i,
  /^You can't/i,
  /^Connections must/i,
];

/** True when the feedback says that the environment refused a well-formed action: status `rejected`. */
export function isRejection(feedback: string): boolean {
  const text = feedback.trim();
  return REJECTIONS.some((pattern) => pattern.test(text));
}

/** True when the feedback, after a menu, may mean that the choice was refused: wider than `isRejection`. */
function isRefusal(feedback: string): boolean {
  const text = feedback.trim();
  return REFUSALS.some((pattern) => pattern.test(text));
}

/** Options of an ambiguity prompt, number → text; empty when the feedback is none. */
export function menuOptions(feedback: string): Record<string, string> {
  if (!feedback.includes("Ambiguous request:")) return {};
  const options: Record<string, string> = {};
  for (const line of feedback.split(/\r?\n/)) {
    const match = OPTION_LINE.exec(line);
    if (match !== null) options[match[1]!] = match[2]!.trim().replace(/\s+/g, " ");
  }
  return options;
}

/** Mode after one more entry. */
export function nextParserState(before: ParserState, { feedback, stepped }: FeedbackEntry): ParserState {
  if (!stepped) return before;
  const options = menuOptions(feedback);
  if (Object.keys(options).length > 0) return { mode: "pending_menu", options };
  if (before.mode !== "normal" && isRefusal(feedback)) return { mode: "unknown", options: {} };
  return { mode: "normal", options: {} };
}

/** Mode and options at a visit, folded over its whole history. */
export function foldParserState(history: readonly FeedbackEntry[]): ParserState {
  return history.reduce<ParserState>(nextParserState, { mode: "normal", options: {} });
}
