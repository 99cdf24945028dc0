/** What sets runs apart: the keys in which their configs differ, and which runs are one config with other seeds. */
import type { TrainConfig } from "../../../core/loop/train-config.ts";
import { CONFIG_FIELDS, checkConfig } from "./config-fields.ts";
import type { Run } from "./run.ts";

type Asked = Pick<Run, "id" | "where" | "config">;

/** A key of the config in which runs differ, with each run's value; a run whose config lacks the key has none. */
export interface Difference {
  key: string;
  /** By the run's id. */
  values: ReadonlyMap<string, string>;
}

/** How many episodes, or live tasks, a step takes: no more than there are. */
export const perStep = ({ batch_size: batch, episode_ids: ids, environment }: TrainConfig): number =>
  environment === undefined && ids !== undefined ? Math.min(batch, ids.length) : batch;

const flattened = new WeakMap<object, ReadonlyMap<string, string>>();

/** A config as text by key, `settings.clip` inside, with the defaults of what it leaves out, and what a step can take of its batch. */
function configValues({ id, config }: Asked): ReadonlyMap<string, string> {
  const known = flattened.get(config);
  if (known !== undefined) return known;
  const values = new Map<string, string>();
  const add = (value: unknown, key: string): void => {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      for (const [name, inner] of Object.entries(value)) add(inner, key === "" ? name : `${key}.${name}`);
    // What is sent for a run lies in a folder of its own: the path says nothing but the id.
    else values.set(key, textOf(value).replaceAll(id, "RUN"));
  };
  const { config: read } = checkConfig(config);
  add(read ?? config, "");
  if (read !== null) values.set("batch_size", String(perStep(read)));
  values.delete("$schema");
  flattened.set(config, values);
  return values;
}

const textOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(textOf).join(", ")
    : typeof value === "string"
      ? value
      : (JSON.stringify(value) ?? "");

const ORDER = new Map(CONFIG_FIELDS.map(({ key }, n) => [key, n]));

/** The keys in which the configs differ, in the order of the schema. */
export function differences(runs: readonly Asked[]): Difference[] {
  const all = runs.map((run) => ({ id: run.id, values: configValues(run) }));
  const keys = new Set(all.flatMap(({ values }) => [...values.keys()]));
  return [...keys]
    .filter((key) => new Set(all.map(({ values }) => values.get(key))).size > 1)
    .sort((a, b) => (ORDER.get(a) ?? ORDER.size) - (ORDER.get(b) ?? ORDER.size))
    .map((key) => ({
      key,
      values: new Map(
        all.flatMap(({ id, values }) => {
          const value = values.get(key);
          return value === undefined ? [] : [[id, value] as const];
        }),
      ),
    }));
}

/** The same for runs of one config in one place, whatever their seeds. */
export function configKey(run: Asked): string {
  const values = [...configValues(run)].filter(([key]) => key !== "seed");
  return JSON.stringify([run.where, values.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

/** The seed of a run, as text. */
export const seedOf = (run: Asked): string => configValues(run).get("seed") ?? "";
