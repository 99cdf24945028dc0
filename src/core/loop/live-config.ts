/** The parts of a config that name a live environment, and the configs of collection and evaluation. */
import { z } from "zod";
import { madeSchema } from "../environment/made-config.ts";
import { InputError } from "../errors.ts";

const path = z.string().min(1);
const unique = <T>(of: z.ZodType<T>) =>
  z
    .array(of)
    .min(1)
    .refine((values) => new Set(values).size === values.length, { error: "expected each one once" });

/** The environments that can be played, as records write them, with the keys of a config that their tasks come from. */
export const TASKS_FROM = {
  alfworld: ["games", "made"],
  scienceworld: ["simulator"],
  webshop: ["games", "made", "server"],
} as const;
export type EnvironmentName = keyof typeof TASKS_FROM;
export const ENVIRONMENT_NAMES = Object.keys(TASKS_FROM) as EnvironmentName[];

/** Where episodes are played, and which tasks. */
export const environmentSchema = z.strictObject({
  name: z.enum(ENVIRONMENT_NAMES).describe("The live environment."),
  games: z
    .union([path, z.array(path).min(1)])
    .optional()
    .describe(
      "ALFWorld: game files (*.tw-pddl), or folders that hold them; a task is named by its path in the folder. " +
        "WebShop: catalogues of shops (*.json).",
    ),
  made: madeSchema
    .optional()
    .describe(
      "In place of `games`: games or shops of our own, made without files as `gcopd games` makes them.",
    ),
  simulator: path.optional().describe("ScienceWorld: its wheel, JAR or package folder."),
  server: path
    .optional()
    .describe("WebShop: in place of `games`, the address of a running server of the released contract."),
  server_settings: z
    .enum(["released", "any"])
    .optional()
    .describe(
      "Whether the server must run with the paper's settings (released, when absent) or may with any.",
    ),
  goals: z
    .strictObject({ first: z.int().min(0), count: z.int().min(1) })
    .optional()
    .describe("The server's goals to play, in place of `tasks`: goal<first> and those after it."),
  tasks: z
    .union([unique(z.string().min(1)), path])
    .optional()
    .describe(
      "Tasks to play, in this order, or a file with a list of them: one per line, JSON, JSON Lines, or a released " +
        "split's list. All when absent, but in ScienceWorld they must be named.",
    ),
  prompt: path.optional().describe("Prompt template (JSON) in place of the environment's own."),
  max_decisions: z.int().min(1).optional().describe("The environment's limit when absent."),
  max_tokens: z.int().min(1).optional().describe("Longest response; the environment's limit when absent."),
});

export type EnvironmentConfig = z.infer<typeof environmentSchema>;

const atOnce = z.int().min(1).default(32).describe("Episodes that run at the same time.");

/** How an evaluation plays its tasks. */
export const evaluationShape = {
  seeds: unique(z.int().min(0)).default([0, 1, 2, 3]).describe("Repetitions of each task."),
  at_once: atOnce,
};

const playShape = {
  $schema: z.string().optional(),
  environment: environmentSchema,
  model: path
    .optional()
    .describe(
      "Policy: a model folder, hub:OWNER/NAME[@REVISION], or a training run or one of its checkpoints. Not needed with " +
        "`policy`.",
    ),
  policy: path
    .optional()
    .describe(
      "In place of `model`: the address of a server that runs the policy (vLLM, SGLang or an OpenAI API of completions or chat).",
    ),
  policy_model: path.optional().describe("The model's name on that server, where it serves several."),
  tokenizer: path
    .optional()
    .describe("Folder with the tokenizer; that of the model or its run when absent. Needed with `policy`."),
  temperature: z.number().min(0).optional().describe("The protocol's when absent (0.4)."),
  top_p: z.number().gt(0).max(1).optional().describe("The protocol's when absent."),
  top_k: z.int().min(1).optional().describe("The protocol's when absent."),
  at_once: atOnce,
  device: z.enum(["auto", "webgpu", "cpu"]).default("auto"),
  compute: z.enum(["f32", "f16"]).default("f32").describe("Operands of matrix products."),
};

export const collectConfigSchema = z.strictObject({
  ...playShape,
  repetitions: z.int().min(1).default(16).describe("Executions of each task, K."),
  planner: z
    .boolean()
    .default(true)
    .describe(
      "Add the execution of each game's walkthrough, or of the purchase that a shop asks for, for augmentation.",
    ),
});

export const evaluateConfigSchema = z.strictObject({
  ...playShape,
  ...evaluationShape,
});

export type CollectConfig = z.infer<typeof collectConfigSchema>;
export type EvaluateConfig = z.infer<typeof evaluateConfigSchema>;
export type PlayConfig = CollectConfig | EvaluateConfig;

/**
 * The tasks that a config names; undefined where it plays all. Commands read the file of a list with the config.
 *
 * @throws InputError for a file that was not read
 */
export function namedTasks(
  { tasks }: Pick<EnvironmentConfig, "tasks">,
  key = "environment.tasks",
): readonly string[] | undefined {
  if (typeof tasks !== "string") return tasks;
  throw new InputError(
    `expected a JSON list of tasks, received ${JSON.stringify(tasks)}; only commands read a file by its name`,
    { key },
  );
}

/**
 * The tasks that a config plays, of all that its games hold.
 *
 * @param placeOf where a task is named, if not in the config itself
 * @throws InputError naming the tasks that are not among them
 */
export function chosenTasks(
  config: Pick<EnvironmentConfig, "tasks">,
  all: readonly string[],
  placeOf: (task: string) => InputError["where"] | undefined = () => undefined,
): readonly string[] {
  const tasks = namedTasks(config);
  if (tasks === undefined) return all;
  const known = new Set(all);
  const missing = tasks.filter((task) => !known.has(task));
  if (missing.length > 0) {
    const named = missing.slice(0, 3).map((task) => JSON.stringify(task));
    const first = all[0] === undefined ? "" : `; the first of ${all.length} is ${JSON.stringify(all[0])}`;
    throw new InputError(
      `no game is named ${named.join(", ")}${missing.length > named.length ? `, … (${missing.length} in all)` : ""}${first}`,
      placeOf(missing[0]!) ?? { key: "environment.tasks" },
    );
  }
  return tasks;
}
