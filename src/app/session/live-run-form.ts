/** The form of a collection or an evaluation: kept outside the view, and read in one place. */
import { create } from "zustand";
import { environmentRules } from "../../core/environment/environment.ts";
import { problemOf } from "../../core/errors.ts";
import { chosenTasks, collectConfigSchema, evaluateConfigSchema } from "../../core/loop/live-config.ts";
import type { LiveRunPlan } from "../runs/live-run.ts";
import type { Role } from "../state/store.ts";
import type { GameTask } from "../workers/games-service.ts";
import { findGames } from "./find-games.ts";
import type { PickedTasks } from "./task-list-file.ts";

export interface LiveRunForm {
  kind: LiveRunPlan["kind"];
  role: Role;
  environment: LiveRunPlan["environment"];
  /** Tasks of this list only, in its order; all where there is none. */
  list: PickedTasks | null;
  /** Tasks of this type only; all where it is empty. */
  type: string;
  /** Only those whose names have all of these words. */
  words: string;
  planner: boolean;
  /** As they were typed: empty is the default. */
  texts: Readonly<Record<LiveRunField, string>>;
}

export const LIVE_RUN_FIELDS = ["repetitions", "seeds", "at_once", "max_decisions", "max_tokens"] as const;
export type LiveRunField = (typeof LIVE_RUN_FIELDS)[number];

export const useLiveRunForm = create<LiveRunForm>(() => ({
  kind: "evaluate",
  role: "student",
  environment: "alfworld",
  list: null,
  type: "",
  words: "",
  planner: true,
  texts: { repetitions: "", seeds: "", at_once: "", max_decisions: "", max_tokens: "" },
}));

export const setLiveRunForm = useLiveRunForm.setState;

export function setLiveRunText(field: LiveRunField, text: string): void {
  setLiveRunForm(({ texts }) => ({ texts: { ...texts, [field]: text } }));
}

/** What holds where a field is empty: the command line's defaults, and the environment's limits. */
export function standardText(field: LiveRunField, environment: string): string {
  const { limits } = environmentRules(environment);
  const { repetitions, at_once } = collectConfigSchema.shape;
  const standards: Record<LiveRunField, string> = {
    repetitions: String(repetitions.parse(undefined)),
    seeds: evaluateConfigSchema.shape.seeds.parse(undefined).join(", "),
    at_once: String(at_once.parse(undefined)),
    max_decisions: String(limits.decisions),
    max_tokens: String(limits.responseTokens),
  };
  return standards[field];
}

/** A run as the form describes it. */
export interface ComposedLiveRun {
  /** Null where something is wrong. */
  plan: LiveRunPlan | null;
  problems: Partial<Record<LiveRunField | "tasks" | "list", string>>;
  /** Tasks of the environment that are chosen, and how many there are. */
  tasks: string[];
  of: number;
  /** Episodes in all; null where something is wrong. */
  episodes: number | null;
}

const wholeNumbers = (text: string): number[] | null => {
  const parts = text.split(/[\s,]+/).filter(Boolean);
  return parts.every((part) => /^\d{1,9}$/.test(part)) ? parts.map(Number) : null;
};

/** The games of a list that are open, in its order; all where there is no list. */
function listedGames(games: readonly GameTask[], list: PickedTasks | null): readonly GameTask[] {
  if (list === null) return games;
  const open = new Map(games.map((game) => [game.task, game]));
  return list.tasks.flatMap((task) => open.get(task) ?? []);
}

export function composeLiveRun(form: LiveRunForm, games: readonly GameTask[]): ComposedLiveRun {
  const { kind, role, environment, list, type, words, planner, texts } = form;
  const problems: ComposedLiveRun["problems"] = {};
  const typed = (field: LiveRunField): string => texts[field].trim();
  const number = (field: LiveRunField): number => {
    const text = typed(field) || standardText(field, environment);
    const value = Number(text);
    if (!/^\d{1,9}$/.test(text) || value < 1)
      problems[field] = `expected a whole number from 1 on, received ${text}`;
    return value;
  };
  const limit = (field: LiveRunField): number | undefined =>
    typed(field) === "" ? undefined : number(field);
  const own = games.filter((game) => game.environment === environment);
  const missing =
    list === null || own.length === 0
      ? null
      : problemOf(() =>
          chosenTasks(
            { tasks: [...list.tasks] },
            own.map(({ task }) => task),
            () => ({ file: list.name }),
          ),
        );
  if (missing !== null) problems.list = missing;
  const tasks = findGames(listedGames(own, list), { type, words }).map(({ task }) => task);
  if (own.length === 0) problems.tasks = `no game of ${environment} is open: make or open some on the left`;
  else if (tasks.length === 0 && missing === null) problems.tasks = "no task has this type and these words";
  const limits = { max_decisions: limit("max_decisions"), max_tokens: limit("max_tokens") };
  const common = { role, environment, tasks, at_once: number("at_once"), ...limits };
  let plan: LiveRunPlan;
  let each: number;
  if (kind === "collect") {
    const repetitions = number("repetitions");
    plan = { kind, ...common, repetitions, planner };
    each = repetitions + (planner ? 1 : 0);
  } else {
    const seeds = wholeNumbers(typed("seeds") || standardText("seeds", environment));
    if (seeds === null || seeds.length === 0)
      problems.seeds = "expected whole numbers, for example 0, 1, 2, 3";
    else if (new Set(seeds).size < seeds.length) problems.seeds = "expected each seed once";
    plan = { kind, ...common, seeds: seeds ?? [] };
    each = plan.seeds.length;
  }
  const fine = Object.keys(problems).length === 0;
  return {
    plan: fine ? plan : null,
    problems,
    tasks,
    of: own.length,
    episodes: fine ? tasks.length * each : null,
  };
}
