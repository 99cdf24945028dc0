/**
 * The ScienceWorld locator (Appendix "State descriptors and matching"): a canonical hash of the physical
 * configuration, and the focus name and ordered goal flags beside it. Parser mode and options are in parser-mode.ts.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import {
  Double,
  type NumberJson,
  type NumberJsonObject,
  parseNumberJson,
  serializeNumberJson,
} from "./number-json.ts";
import type { FeedbackEntry } from "./parser-mode.ts";

/** Feedback-derived focus and the flags of the ordered goals. */
export interface ControlPart {
  focus: string | null;
  /** [index, "true" | "false"], in order of appearance. */
  goalFlags: [string, string][];
}

export interface PhysicalObject {
  name: NumberJson;
  parent: string | null;
  properties: NumberJsonObject;
}

const RESET_FEEDBACK = "You reset the goal progress and focus.";
const FOCUS_FEEDBACK = /You focus on (?:the )?(.+?)\./;
const GOAL_LINE = /^\s*(\d+)\s+(true|false)\s+(.+)$/;

/** Thresholds whose side of the temperature the descriptor keeps: [property, field]. */
const THRESHOLDS = [
  ["propMaterial", "meltingPoint"],
  ["propMaterial", "boilingPoint"],
  ["propLife", "minTemp"],
  ["propLife", "maxTemp"],
] as const;

function hash(value: NumberJson): string {
  return bytesToHex(sha256(utf8ToBytes(serializeNumberJson(value))));
}

function asObject(value: NumberJson | undefined): NumberJsonObject | undefined {
  return value instanceof Map ? value : undefined;
}

/** A number of either kind, comparable exactly with any other; undefined for anything else. */
function numeric(value: NumberJson | undefined): bigint | number | undefined {
  if (typeof value === "bigint") return value;
  return value instanceof Double ? value.value : undefined;
}

/** Replaces the temperature by its one-degree bin and the side of each threshold: continuous values never match. */
function discretizeTemperature(properties: NumberJsonObject): void {
  const material = asObject(properties.get("propMaterial"));
  if (material === undefined || !material.has("temperatureC")) return;
  const temperature = numeric(material.get("temperatureC"));
  let replacement: NumberJson = null;
  if (temperature !== undefined) {
    const rounded = Math.floor(Number(temperature) + 0.5);
    if (!Number.isFinite(rounded)) throw new RangeError("temperatureC is beyond the range of a double");
    const sides: NumberJsonObject = new Map();
    for (const [property, field] of THRESHOLDS) {
      const threshold = numeric(asObject(properties.get(property))?.get(field));
      if (threshold === undefined) continue;
      sides.set(field, temperature < threshold ? -1n : temperature > threshold ? 1n : 0n);
    }
    replacement = new Map<string, NumberJson>([
      ["bin", BigInt(rounded)],
      ["threshold_sides", sides],
    ]);
  }
  properties.set("propMaterial", new Map(material).set("temperatureC", replacement));
}

function uuidOf(node: NumberJsonObject): string {
  const uuid = node.get("uuid");
  if (typeof uuid === "string") return uuid;
  if (typeof uuid === "bigint" || uuid instanceof Double) return serializeNumberJson(uuid);
  throw new SyntaxError(
    uuid === undefined ? "an object without a uuid" : "a uuid that is not a string or number",
  );
}

/** Objects by uuid, depth first; a later registration of a uuid replaces the earlier one. */
export function registerObjects(root: NumberJson): Map<string, PhysicalObject> {
  const objects = new Map<string, PhysicalObject>();
  const register = (node: NumberJson, parent: string | null): void => {
    if (!(node instanceof Map)) throw new SyntaxError("an entry of the tree that is not an object");
    const uuid = uuidOf(node);
    const properties: NumberJsonObject = new Map();
    for (const [key, value] of node) {
      if (key !== "uuid" && key !== "name" && key !== "contents" && value !== null)
        properties.set(key, value);
    }
    discretizeTemperature(properties);
    objects.set(uuid, { name: node.get("name") ?? "", parent, properties });
    const contents = node.get("contents");
    if (contents === undefined || contents === null) return;
    if (contents instanceof Map || Array.isArray(contents)) {
      for (const child of contents.values()) register(child, uuid);
      return;
    }
    throw new SyntaxError("contents that are neither an object nor a list");
  };
  register(root, null);
  return objects;
}

/**
 * SHA-256 (lower-case hex) of the canonical tree: names, properties and contents, the contents sorted by their
 * serialized text, without the objects' own uuids. Throws `SyntaxError` or `RangeError` for a text that is not a tree.
 */
export function physicalHash(objectTree: string): string {
  const objects = registerObjects(parseNumberJson(objectTree));
  const children = new Map<string | null, string[]>();
  for (const [uuid, { parent }] of objects) {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [uuid]);
    else siblings.push(uuid);
  }
  const serializeAll = (uuids: readonly string[]): string =>
    `[${uuids.map(serializeObject).sort().join(", ")}]`;
  // Serialized text is ASCII, so that the order of UTF-16 units is the order of code points.
  const serializeObject = (uuid: string): string => {
    const object = objects.get(uuid)!;
    const contents = serializeAll(children.get(uuid) ?? []);
    return `{"contents": ${contents}, "name": ${serializeNumberJson(object.name)}, "properties": ${serializeNumberJson(object.properties)}}`;
  };
  return bytesToHex(sha256(utf8ToBytes(serializeAll(children.get(null) ?? []))));
}

/** The focus after all stepped feedback, the observation after reset (the first entry) left out. */
export function foldFocus(history: readonly FeedbackEntry[]): string | null {
  let focus: string | null = null;
  for (const { feedback, stepped } of history.slice(1)) {
    if (!stepped) continue;
    if (feedback.includes(RESET_FEEDBACK)) focus = null;
    else focus = FOCUS_FEEDBACK.exec(feedback)?.[1]?.trim() ?? focus;
  }
  return focus;
}

/** The ordered (sequential) goals' flags of the simulator's progress text. */
export function orderedGoalFlags(goalProgress: string): [string, string][] {
  const [ordered = ""] = goalProgress.split("Unordered", 1);
  const flags: [string, string][] = [];
  for (const line of ordered.split(/\r?\n/)) {
    const match = GOAL_LINE.exec(line);
    if (match !== null) flags.push([match[1]!, match[2]!]);
  }
  return flags;
}

/** State key of locator z: the physical hash and the control part, hashed together. */
export function stateKey(physical: string, control: ControlPart): string {
  return hash([
    physical,
    new Map<string, NumberJson>([
      ["focus_reference", control.focus],
      ["goal_flags", control.goalFlags],
    ]),
  ]);
}
