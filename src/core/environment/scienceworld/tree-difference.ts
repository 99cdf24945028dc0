/**
 * What differs between two ScienceWorld states: objects of the two trees that came, went, moved or changed, the focus
 * and the ordered goals. Compared is what enters the key: temperatures in whole degrees with the sides of their
 * thresholds, no uuid of the objects themselves.
 */
import { z } from "zod";
import { entryChanges, type StateChange } from "../state-change.ts";
import {
  foldFocus,
  orderedGoalFlags,
  type PhysicalObject,
  physicalHash,
  registerObjects,
} from "./locator.ts";
import { type NumberJson, parseNumberJson, serializeNumberJson } from "./number-json.ts";

const captureSchema = z.looseObject({
  object_tree: z.string(),
  goal_progress: z.string().optional(),
  history: z.array(z.looseObject({ feedback: z.string(), stepped: z.boolean() })).optional(),
});
type Capture = z.infer<typeof captureSchema>;

/** Descriptors as `gcopd locate` reads them (goal_progress and history may be missing). Null for anything else. */
export function treeChanges(left: unknown, right: unknown): StateChange[] | null {
  const [a, b] = [captureSchema.safeParse(left), captureSchema.safeParse(right)];
  if (!a.success || !b.success) return null;
  try {
    return [...controlChanges(a.data, b.data), ...physicalChanges(a.data.object_tree, b.data.object_tree)];
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

function controlChanges(left: Capture, right: Capture): StateChange[] {
  const control = ({ goal_progress, history }: Capture): Record<string, string> => {
    const focus = history === undefined || history.length === 0 ? null : foldFocus(history);
    const flags = goal_progress === undefined ? [] : orderedGoalFlags(goal_progress);
    return {
      ...(focus === null ? {} : { focus }),
      ...Object.fromEntries(flags.map(([index, flag]) => [`goal ${index}`, flag])),
    };
  };
  return entryChanges([], control(left), control(right));
}

interface Pair {
  left: string;
  right: string;
}

/** Objects are recognised by uuid and name, then by name in the same place, then by name anywhere. */
function physicalChanges(left: string, right: string): StateChange[] {
  if (physicalHash(left) === physicalHash(right)) return [];
  const a = registerObjects(parseNumberJson(left));
  const b = registerObjects(parseNumberJson(right));
  const name = ({ name: value }: PhysicalObject): string =>
    typeof value === "string" ? value : serializeNumberJson(value);
  const partner = new Map<string, string>();
  const free = new Set(b.keys());
  const pair = ({ left: from, right: to }: Pair): void => {
    partner.set(from, to);
    free.delete(to);
  };
  for (const [uuid, object] of a) {
    const other = b.get(uuid);
    if (other !== undefined && name(other) === name(object)) pair({ left: uuid, right: uuid });
  }
  const byName = (samePlace: boolean): void => {
    const waiting = new Map<string, string[]>();
    for (const uuid of free) {
      const object = b.get(uuid)!;
      const key = JSON.stringify([name(object), samePlace ? object.parent : null]);
      waiting.set(key, [...(waiting.get(key) ?? []), uuid]);
    }
    for (const [uuid, object] of a) {
      if (partner.has(uuid)) continue;
      const at = samePlace && object.parent !== null ? (partner.get(object.parent) ?? object.parent) : null;
      const found = waiting.get(JSON.stringify([name(object), at]))?.shift();
      if (found !== undefined) pair({ left: uuid, right: found });
    }
  };
  byName(true);
  byName(false);

  const titleOf = (objects: Map<string, PhysicalObject>, uuid: string | null): string | null => {
    const object = uuid === null ? undefined : objects.get(uuid);
    return object === undefined ? null : name(object);
  };
  /** The rooms and containers around an object, outermost first, and the object; the root is left out. */
  const pathOf = (objects: Map<string, PhysicalObject>, uuid: string): string[] => {
    const path: string[] = [];
    const seen = new Set<string>();
    for (let at: string | null = uuid; at !== null && !seen.has(at); at = objects.get(at)?.parent ?? null) {
      seen.add(at);
      if (objects.get(at)?.parent !== null || at === uuid) path.unshift(titleOf(objects, at) ?? "");
    }
    return path;
  };
  const changes: StateChange[] = [];
  for (const [uuid, object] of a) {
    const at = pathOf(a, uuid);
    const other = partner.get(uuid);
    if (other === undefined) {
      changes.push({ at, kind: "removed", left: titleOf(a, object.parent), right: null });
      continue;
    }
    const { parent, properties } = b.get(other)!;
    const [before, after] = [titleOf(a, object.parent), titleOf(b, parent)];
    const same = object.parent === null ? parent === null : partner.get(object.parent) === parent;
    if (!same) changes.push({ at, kind: "moved", left: before, right: after });
    changes.push(...entryChanges(at, flat(object.properties), flat(properties)));
  }
  for (const uuid of free) {
    const at = pathOf(b, uuid);
    changes.push({ at, kind: "added", left: null, right: titleOf(b, b.get(uuid)!.parent) });
  }
  return changes;
}

/** Nested properties as one level: `propContainer.isOpen`. */
function flat(value: NumberJson, at = "", into: Record<string, string> = {}): Record<string, string> {
  if (value instanceof Map) {
    for (const [key, inner] of value) flat(inner, at === "" ? key : `${at}.${key}`, into);
  } else {
    into[at] = typeof value === "string" ? value : serializeNumberJson(value);
  }
  return into;
}
