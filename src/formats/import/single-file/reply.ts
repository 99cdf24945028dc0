/** The action in an agent's reply, as the foreign formats write it. Nothing is guessed from other text. */
import { environmentRules } from "../../../core/environment/environment.ts";
import { asksForBlankCancellation } from "../../../core/environment/scienceworld/response.ts";

const ACTION_LINE = /^[ \t]*Action:/gm;
const ACTION_BLOCK = /<action>([\s\S]*?)<\/action>/g;

/** The text after the one `Action:` of a reply; null when there is none, more than one, or nothing after it. */
export function actionAfterLabel(reply: string): string | null {
  const lines = [...reply.matchAll(ACTION_LINE)];
  const found = lines.length > 0 ? lines : [...reply.matchAll(/\bAction:/g)];
  if (found.length !== 1) return null;
  const action = reply.slice(found[0]!.index + found[0]![0].length).trim();
  return action === "" ? null : action;
}

/**
 * The one closed `<action>` of a reply, whatever text stands around it. Empty only where a menu asks for a blank
 * answer; null when there is none or more than one.
 */
export function taggedAction(reply: string, observation: string): string | null {
  const blocks = [...reply.matchAll(ACTION_BLOCK)];
  if (blocks.length !== 1) return null;
  const action = blocks[0]![1]!.trim();
  return action !== "" || asksForBlankCancellation(observation) ? action : null;
}

/** Tags where there are any, else the label. */
export function replyAction(reply: string, observation: string): string | null {
  return /<\/?action>/.test(reply) ? taggedAction(reply, observation) : actionAfterLabel(reply);
}

/** A student's response, as strictly as its environment's own parser reads it. */
export function responseAction(response: string, prompt: string, environment: string): string | null {
  return environmentRules(environment).parseResponse(response, prompt).action;
}

/** The action of a tool call: its `action` or only argument, else the call written out. Null when it has none. */
export function toolAction(name: string, argumentsValue: unknown): string | null {
  let value = argumentsValue;
  if (typeof value === "string") {
    try {
      value = JSON.parse(value);
    } catch {
      return value === "" ? null : (value as string);
    }
  }
  if (typeof value === "string") return value.trim() === "" ? null : value.trim();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const given = value as Record<string, unknown>;
  if (typeof given.action === "string") return given.action.trim();
  const only = Object.values(given);
  if (only.length === 1 && typeof only[0] === "string") return only[0].trim();
  return `${name} ${JSON.stringify(value)}`;
}
