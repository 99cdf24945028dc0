/** The form of a training config, made from its schema: what each key is, and texts that a user wrote into a config. */
import { z } from "zod";
import { InputError } from "../../../core/errors.ts";
import { checkTrainConfig } from "../../../core/loop/check-train-config.ts";
import { type TrainConfig, trainConfigSchema } from "../../../core/loop/train-config.ts";
import { describeIssue } from "../../../core/record/describe-issue.ts";

export interface Field {
  /** As in the config; `settings.clip` is inside. */
  key: string;
  kind: "choice" | "integer" | "number" | "switch" | "text" | "list" | "names" | "json";
  choices: readonly string[];
  /** What holds when it is left empty, as a user would write it; empty where that needs words. */
  standard: string;
  description: string;
}

interface Property {
  type?: string;
  anyOf?: Property[];
  enum?: unknown[];
  default?: unknown;
  description?: string;
  properties?: Record<string, Property>;
}

function fieldsOf(properties: Record<string, Property>, before = ""): Field[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const key = before + name;
    const description = property.description ?? "";
    if (property.properties !== undefined) {
      const inner = fieldsOf(property.properties, `${key}.`);
      // Absent means something of its own, unless it has a default.
      const own: Field = { key, kind: "switch", choices: [], standard: "", description };
      return property.default === undefined ? [own, ...inner] : inner;
    }
    const { default: own } = property;
    const standard = own === undefined ? "" : Array.isArray(own) ? own.join(", ") : String(own);
    // Where more than names are taken, the names are still what is chosen from.
    const named = [property, ...(property.anyOf ?? [])].find((each) => each.enum !== undefined);
    const choices = named?.enum?.map(String) ?? [];
    const kinds: Record<string, Field["kind"]> = {
      integer: "integer",
      number: "number",
      boolean: "switch",
      string: "text",
      array: "list",
      names: "names",
    };
    const either = property.anyOf?.map((each) => each.type) ?? [];
    const isNames = either.includes("string") && either.includes("array");
    const type = isNames ? "names" : either.includes("string") ? "string" : property.type;
    const kind = choices.length > 0 ? "choice" : (kinds[type ?? ""] ?? "json");
    return [{ key, kind, choices, standard, description }];
  });
}

/** Every key of a config, in its schema's order. */
export const schemaFields = (schema: z.ZodObject): readonly Field[] =>
  fieldsOf((z.toJSONSchema(schema, { io: "input" }) as { properties: Record<string, Property> }).properties);

/** Those of a training config. */
export const CONFIG_FIELDS = schemaFields(trainConfigSchema);

export function configField(key: string): Field {
  const field = CONFIG_FIELDS.find((each) => each.key === key);
  if (field === undefined) throw new Error(`the config has no key ${key}`);
  return field;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A JSON list, whose brackets may be left out. */
const listOf = (text: string): unknown => [text, `[${text}]`].map(parsed).find(Array.isArray) ?? text;

/** What a user wrote, as the config's value. What cannot be read stays text: the schema then says what it expected. */
export function readField({ kind }: Field, text: string): unknown {
  const trimmed = text.trim();
  switch (kind) {
    case "integer":
    case "number":
      return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
    case "switch":
      return trimmed === "true";
    case "json":
      return parsed(trimmed) ?? parsed(`[${trimmed}]`) ?? trimmed;
    case "names":
      // One is written as it is, several as a list.
      return /^[["]/.test(trimmed) ? listOf(trimmed) : trimmed;
    case "list":
      return listOf(trimmed);
    default:
      return trimmed;
  }
}

/** `environment` and `environment.made` for `environment.made.count`. */
const outside = (key: string): string[] =>
  key
    .split(".")
    .slice(0, -1)
    .map((_, n, parts) => parts.slice(0, n + 1).join("."));

/** Keys that hold others, and are there only where they are switched on. */
const SWITCHES: ReadonlySet<string> = new Set(
  CONFIG_FIELDS.flatMap(({ key }) => outside(key)).filter((key) =>
    CONFIG_FIELDS.some((field) => field.key === key),
  ),
);

/** Whether all that a key is inside of is switched on. */
export const isReached = (key: string, texts: Readonly<Record<string, string>>): boolean =>
  outside(key).every((around) => !SWITCHES.has(around) || texts[around] === "true");

/** Texts by key into a config: empty texts are left out. */
export function configOf(texts: Readonly<Record<string, string>>): Record<string, unknown> {
  const objects = new Map<string, Record<string, unknown>>([["", {}]]);
  const objectAt = (key: string): Record<string, unknown> => {
    const known = objects.get(key);
    if (known !== undefined) return known;
    const made = {};
    objects.set(key, made);
    objectAt(outside(key).at(-1) ?? "")[key.split(".").at(-1)!] = made;
    return made;
  };
  for (const field of CONFIG_FIELDS) {
    const { key } = field;
    const text = texts[key];
    if (text === undefined || text.trim() === "" || !isReached(key, texts)) continue;
    if (!SWITCHES.has(key))
      objectAt(outside(key).at(-1) ?? "")[key.split(".").at(-1)!] = readField(field, text);
    else if (text === "true") objectAt(key);
  }
  return objectAt("");
}

export interface CheckedConfig {
  /** With its defaults; null where something is wrong. */
  config: TrainConfig | null;
  /** What is wrong, by key; `""` for the whole. */
  problems: Readonly<Record<string, string>>;
}

/**
 * Checks a config as the command line would.
 *
 * @param more what else must hold of it; throws `InputError` with the key
 */
export function checkConfig(
  value: Record<string, unknown>,
  more: (config: TrainConfig) => void = () => undefined,
): CheckedConfig {
  const checked = trainConfigSchema.safeParse(value);
  if (!checked.success) {
    const problems: Record<string, string> = {};
    for (const issue of checked.error.issues) {
      const { key, message } = describeIssue(issue, value);
      problems[fieldKey(key, CONFIG_FIELDS)] ??= message;
    }
    return { config: null, problems };
  }
  try {
    checkTrainConfig(checked.data);
    more(checked.data);
    return { config: checked.data, problems: {} };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { config: null, problems: { [fieldKey(error.where.key ?? "", CONFIG_FIELDS)]: error.reason } };
  }
}

/** `epochs[1]` is said at `epochs`, `stages[0].name` at `stages`; empty where it is in none of the fields. */
export function fieldKey(path: string, fields: readonly Field[]): string {
  const keys = fields
    .map(({ key }) => key)
    .filter((key) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`));
  return keys.sort((a, b) => b.length - a.length)[0] ?? "";
}
