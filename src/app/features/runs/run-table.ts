/** The table of runs: its columns, among them whatever differs between the configs, and its rows in order and groups. */
import { create } from "zustand";
import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { figureText } from "../../compute/run-card/figures.ts";
import { shortTitleOf } from "../../compute/runs/field-control.tsx";
import type { Run } from "../../compute/runs/run.ts";
import { configKey, type Difference, differences } from "../../compute/runs/run-differences.ts";
import { stateWord } from "../../compute/runs/state-word.ts";

export interface Column {
  key: string;
  title: string;
  isNumber: boolean;
  /** What is shown; "" where a run has nothing. */
  text: (run: Run) => string;
  /** What its cell says in place of a text that is too long for it. */
  short?: (run: Run) => string;
  /** What rows are sorted by: numbers before text, and nothing last. */
  value: (run: Run) => string | number | null;
}

/** All differing keys are columns, however many. The order, the groups and the tags are in the address. */
export const useAllColumns = create<{ all: boolean }>(() => ({ all: false }));

/** Differing keys that are columns before all are asked for. */
const FIRST_COLUMNS = 5;

const whereOf = ({ where, launched }: Run): string =>
  launched === undefined ? (where === "page" ? "this page" : "worker") : `target ${launched.target}`;

const RUN_COLUMNS: readonly Column[] = [
  { key: "run", title: "run", isNumber: false, text: ({ title }) => title, value: ({ title }) => title },
  { key: "where", title: "where", isNumber: false, text: whereOf, value: whereOf },
  { key: "state", title: "state", isNumber: false, text: stateWord, value: stateWord },
];

const FIGURE_COLUMNS: readonly Column[] = [
  {
    ...{ key: "steps", title: "steps", isNumber: true },
    text: ({ figures: { done, total } }) => (total === 0 ? "–" : `${done} of ${total}`),
    value: ({ figures: { done, total } }) => (total === 0 ? null : done),
  },
  {
    ...{ key: "loss", title: "loss", isNumber: true },
    text: ({ figures }) => figureText(figures.points.at(-1), "loss"),
    value: ({ figures }) => figures.points.at(-1)?.loss ?? null,
  },
  {
    ...{ key: "started", title: "started", isNumber: false },
    text: ({ created }) => created.slice(0, 16).replace("T", " "),
    value: ({ created }) => created,
  },
];

const countedEpisodes = ({ config: { episode_ids: ids } }: Run): string =>
  Array.isArray(ids) ? countOf(ids.length, "episode") : "";

/** "config settings.clip": a key of the config is no column of the run's. */
const columnOf = ({ key, values }: Difference, title: string): Column => {
  const texts = [...values.values()];
  return {
    key: `config ${key}`,
    title: shownName(title, 60),
    isNumber: texts.every((text) => text.trim() !== "" && Number.isFinite(Number(text))),
    text: ({ id }) => values.get(id) ?? "",
    ...(key === "episode_ids" ? { short: countedEpisodes } : {}),
    value: ({ id }) => {
      const text = values.get(id);
      if (text === undefined) return null;
      return Number.isFinite(Number(text)) && text.trim() !== "" ? Number(text) : text;
    },
  };
};

/** Keys of files and folders: between the page and a worker they differ even where their content is the same. */
const FILE_KEYS = ["library", "episodes", "teacher", "student", "tokenizer", "parent"];
const isFileKey = ({ key }: Difference): number => Number(FILE_KEYS.includes(key));

/** The columns for some runs, settings before files; `left` is how many differing keys are not shown. */
export function columnsFor(runs: readonly Run[], all: boolean): { columns: Column[]; left: number } {
  const found = differences(runs).sort((a, b) => isFileKey(a) - isFileKey(b));
  // The form's label, as long as it names one of them only.
  const titles = found.map(({ key }) => shortTitleOf(key));
  const named = titles.map((title) => title.toLowerCase());
  const differing = found.map((each, n) =>
    columnOf(each, named.indexOf(named[n]!) === named.lastIndexOf(named[n]!) ? titles[n]! : each.key),
  );
  const shown = all ? differing : differing.slice(0, FIRST_COLUMNS);
  return {
    columns: [...RUN_COLUMNS, ...shown, ...FIGURE_COLUMNS],
    left: differing.length - shown.length,
  };
}

/** The runs by a column; those that are alike stay in their order, and those without a value come last. */
export function sortRuns(runs: readonly Run[], { value }: Column, descending: boolean): Run[] {
  const sign = descending ? -1 : 1;
  return [...runs].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  });
}

export interface Group {
  key: string;
  /** What the runs of the group have in common, as the end of "5 runs: …"; empty for the only group. */
  title: string;
  runs: Run[];
}

type TagsOf = Readonly<Record<string, readonly string[]>>;

/** The runs, in their order, by what they have in common; one with several tags is in the group of each. */
export function groupRuns(
  runs: readonly Run[],
  by: string,
  columns: readonly Column[],
  tags: TagsOf,
): Group[] {
  const column = columns.find(({ key }) => key === by);
  const of = (run: Run): { key: string; title: string }[] => {
    if (by === "config") return [{ key: configKey(run), title: run.title }];
    if (by === "tag") return (tags[run.id] ?? ["no tag"]).map((tag) => ({ key: tag, title: tag }));
    if (column === undefined) return [{ key: "", title: "" }];
    const text = column.text(run) || "default";
    return [{ key: text, title: `${column.title} ${text}` }];
  };
  const groups = new Map<string, Group>();
  for (const run of runs)
    for (const { key, title } of of(run)) {
      const group = groups.get(key) ?? { key, title, runs: [] };
      groups.set(key, group);
      group.runs.push(run);
    }
  return [...groups.values()];
}

/** Runs that have all of some tags. */
export const withTags = (runs: readonly Run[], wanted: readonly string[], tags: TagsOf): Run[] =>
  runs.filter(({ id }) => wanted.every((tag) => tags[id]?.includes(tag)));
