/**
 * The response parser of all environments (Appendix "Prompt and parser adaptations"): an optional closed `<thought>`,
 * then exactly one closed `<action>`, and nothing but white space around them. No action is ever guessed from the
 * remaining text. What differs is whether an empty action may stand (ScienceWorld, where a menu asks for a blank).
 */
import type { ParsedResponse } from "./environment.ts";

const TAGS = /<(\/?)(thought|action)>/g;

interface Tag {
  close: boolean;
  name: "thought" | "action";
  start: number;
  end: number;
}

function malformed(problem: string, thought: string | null = null): ParsedResponse {
  return { action: null, thought, problem };
}

/**
 * Reads a response.
 *
 * @param blankProblem why an empty action is malformed; null where it is well formed
 */
export function parseTaggedResponse(response: string, blankProblem: string | null): ParsedResponse {
  const tags: Tag[] = Array.from(response.matchAll(TAGS), (match) => ({
    close: match[1] === "/",
    name: match[2] as Tag["name"],
    start: match.index,
    end: match.index + match[0].length,
  }));
  let at = 0;
  let thought: string | null = null;
  const outside = (end: number) => response.slice(at, end).trim() !== "";

  if (tags[0]?.name === "thought" && !tags[0].close) {
    const [open, close] = tags;
    if (close === undefined || close.name !== "thought" || !close.close) {
      return malformed("the thought is not closed before the next tag");
    }
    if (outside(open.start)) return malformed("text before the thought");
    thought = response.slice(open.end, close.start).trim();
    at = close.end;
    tags.splice(0, 2);
  }
  const [open, close, ...rest] = tags;
  if (open === undefined) return malformed("no <action>…</action> block", thought);
  if (open.name !== "action" || open.close) {
    return malformed(`unexpected <${open.close ? "/" : ""}${open.name}>`, thought);
  }
  if (outside(open.start)) return malformed("text outside the blocks", thought);
  if (close === undefined || close.name !== "action" || !close.close) {
    return malformed("the action is not closed before the next tag", thought);
  }
  if (rest.length > 0) {
    return malformed(
      rest.some((tag) => tag.name === "action" && !tag.close)
        ? "more than one action"
        : "a tag after the action",
      thought,
    );
  }
  at = close.end;
  if (outside(response.length)) return malformed("text outside the blocks", thought);
  const action = response.slice(open.end, close.start).trim();
  if (action === "" && blankProblem !== null) return malformed(blankProblem, thought);
  return { action, thought, problem: null };
}

/** The parser of environments that never take an empty action. */
export function parseNonblankResponse(response: string): ParsedResponse {
  return parseTaggedResponse(response, "an empty action");
}
