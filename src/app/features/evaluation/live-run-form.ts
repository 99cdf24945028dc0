/** The form of a collection or an evaluation: kept outside the view, and read in one place. */
import type { z } from "zod";
import { create } from "zustand";
import { environmentRules } from "../../../core/environment/environment.ts";
import { problemOf } from "../../../core/errors.ts";
import {
  chosenTasks,
  collectConfigSchema,
  type EnvironmentName,
  evaluateConfigSchema,
  type PlayConfig,
} from "../../../core/loop/live-config.ts";
import { describeIssue } from "../../../core/record/describe-issue.ts";
import type { GameTask } from "../../compute/games/find-games.ts";
import { findGames } from "../../compute/games/find-games.ts";
import type { PickedTasks } from "../../compute/games/picked-files.ts";
import { simulatorProblem } from "../../compute/games/simulator.ts";
import { type Field, fieldKey, readField, schemaFields } from "../../compute/runs/config-fields.ts";
import type { LiveRunPlan, PickedPrompt } from "../../compute/runs/live-run.ts";
import type { Role } from "../../compute/store.ts";

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
  /** In place of the environment's own; null where that is taken. */
  prompt: PickedPrompt | null;
  /** As they were typed: empty is the default. */
  texts: Readonly<Record<LiveRunField, string>>;
}

/** Keys of the commands' configs. */
export type LiveRunField =
  | "repetitions"
  | "seeds"
  | "at_once"
  | "temperature"
  | "top_p"
  | "top_k"
  | "environment.max_decisions"
  | "environment.max_tokens";

const FIELDS = [...schemaFields(collectConfigSchema), ...schemaFields(evaluateConfigSchema)];

export function liveRunField(key: LiveRunField): Field {
  return FIELDS.find((field) => field.key === key)!;
}

export const useLiveRunForm = create<LiveRunForm>(() => ({
  kind: "evaluate",
  role: "student",
  environment: "alfworld",
  list: null,
  type: "",
  words: "",
  planner: true,
  prompt: null,
  texts: {
    ...{ repetitions: "", seeds: "", at_once: "", temperature: "", top_p: "", top_k: "" },
    ...{ "environment.max_decisions": "", "environment.max_tokens": "" },
  },
}));

export const setLiveRunForm = useLiveRunForm.setState;

export function setLiveRunText(field: LiveRunField, text: string): void {
  setLiveRunForm(({ texts }) => ({ texts: { ...texts, [field]: text } }));
}

/** What holds where a field is empty: the command line's defaults, and those of the environment's protocol. */
export function standardText(
  key: LiveRunField,
  { kind, environment }: Pick<LiveRunForm, "kind" | "environment">,
): string {
  const { limits, protocols } = environmentRules(environment);
  const { temperature, topP, topK } = protocols[kind].sampling;
  const standards: Partial<Record<LiveRunField, string>> = {
    temperature: String(temperature),
    top_p: String(topP),
    top_k: topK === null ? "all" : String(topK),
    "environment.max_decisions": String(limits.decisions),
    "environment.max_tokens": String(limits.responseTokens),
  };
  return standards[key] ?? liveRunField(key).standard;
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

/** The games of a list that are open, in its order; all where there is no list. */
function listedGames(games: readonly GameTask[], list: PickedTasks | null): readonly GameTask[] {
  if (list === null) return games;
  const open = new Map(games.map((game) => [game.task, game]));
  return list.tasks.flatMap((task) => open.get(task) ?? []);
}

/** By field. */
function problemsOf(error: z.ZodError, value: object): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const issue of error.issues) {
    const { key, message } = describeIssue(issue, value);
    problems[fieldKey(key, FIELDS)] ??= message;
  }
  return problems;
}

/** What is played, checked as the command line checks it; the tasks apart. */
function checkedPlan(
  { kind, role, environment: name, planner, prompt, texts }: LiveRunForm,
  tasks: string[],
): { plan: LiveRunPlan } | { problems: Record<string, string> } {
  const typed = (key: LiveRunField): unknown =>
    texts[key].trim() === "" ? undefined : readField(liveRunField(key), texts[key]);
  const given = {
    environment: {
      name,
      max_decisions: typed("environment.max_decisions"),
      max_tokens: typed("environment.max_tokens"),
    },
    ...{ at_once: typed("at_once"), temperature: typed("temperature") },
    ...{ top_p: typed("top_p"), top_k: typed("top_k") },
    ...(kind === "collect" ? { repetitions: typed("repetitions"), planner } : { seeds: typed("seeds") }),
  };
  const common = ({ environment, at_once, temperature, top_p, top_k }: PlayConfig) => ({
    ...{ role, environment: name, tasks, at_once, temperature, top_p, top_k },
    max_decisions: environment.max_decisions,
    max_tokens: environment.max_tokens,
    ...(prompt === null ? {} : { prompt }),
  });
  if (kind === "collect") {
    const checked = collectConfigSchema.safeParse(given);
    if (!checked.success) return { problems: problemsOf(checked.error, given) };
    const { repetitions } = checked.data;
    return { plan: { kind, ...common(checked.data), repetitions, planner } };
  }
  const checked = evaluateConfigSchema.safeParse(given);
  if (!checked.success) return { problems: problemsOf(checked.error, given) };
  return { plan: { kind, ...common(checked.data), seeds: checked.data.seeds } };
}

export function composeLiveRun(form: LiveRunForm, games: readonly GameTask[]): ComposedLiveRun {
  const { environment, list, type, words } = form;
  const own = games.filter((game) => game.environment === environment);
  const tasks = findGames(listedGames(own, list), { type, words }).map(({ task }) => task);
  const checked = checkedPlan(form, tasks);
  const problems: ComposedLiveRun["problems"] = "problems" in checked ? checked.problems : {};
  const names = own.map(({ task }) => task);
  const missing =
    list === null || own.length === 0
      ? null
      : problemOf(() => chosenTasks({ tasks: [...list.tasks] }, names, () => ({ file: list.name })));
  if (own.length === 0) problems.tasks = noneOpen(environment);
  else if (missing !== null) problems.list = missing;
  else if (tasks.length === 0) problems.tasks = "no task has this type and these words";
  const plan = "plan" in checked && Object.keys(problems).length === 0 ? checked.plan : null;
  return {
    plan,
    problems,
    tasks,
    of: own.length,
    episodes: plan === null ? null : tasks.length * episodesEach(plan),
  };
}

/** What to do where an environment has no open game. */
const noneOpen = (environment: EnvironmentName): string =>
  (environment === "scienceworld" ? simulatorProblem() : null) ??
  `no game of ${environment} is open: make or open some on the left`;

const episodesEach = (plan: LiveRunPlan): number =>
  plan.kind === "evaluate" ? plan.seeds.length : plan.repetitions + (plan.planner ? 1 : 0);
