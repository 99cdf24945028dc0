/** ATIF, the Agent Trajectory Interchange Format: one trajectory a document. */
import { z } from "zod";
import { environmentName, UNKNOWN_ENVIRONMENT, untoldEnvironment } from "./environment-of.ts";
import { alfworldTask, otherSource, type Turn } from "./execution.ts";
import { fileImporter } from "./file-importer.ts";
import { replyAction, toolAction } from "./reply.ts";
import { check } from "./rows.ts";

const text = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().nullish() }))])
  .nullish();

const callSchema = z.looseObject({
  tool_call_id: z.string().nullish(),
  function_name: z.string(),
  arguments: z.unknown(),
});

const stepSchema = z.looseObject({
  source: z.enum(["system", "user", "agent"]),
  message: text,
  tool_calls: z.array(callSchema).nullish(),
  observation: z
    .looseObject({
      results: z.array(z.looseObject({ source_call_id: z.string().nullish(), content: text })).nullish(),
    })
    .nullish(),
});

const trajectorySchema = z.looseObject({
  schema_version: z.string().regex(/^ATIF-v1\./, "expected ATIF-v1.…"),
  session_id: z.string().nullish(),
  trajectory_id: z.string().nullish(),
  agent: z.looseObject({ name: z.string().nullish(), model_name: z.string().nullish() }),
  steps: z.array(stepSchema),
  extra: z.looseObject({ environment: z.string().nullish() }).nullish(),
});

type Step = z.infer<typeof stepSchema>;

function plainText(value: z.infer<typeof text>): string {
  if (typeof value === "string") return value;
  return (value ?? []).map((part) => part.text ?? "").join("");
}

/** What the environment answered to a call, or to the whole step. */
function answer(step: Step, call?: string | null): string {
  const results = step.observation?.results ?? [];
  const own = call == null ? results : results.filter((result) => result.source_call_id === call);
  const said = own.length > 0 || (step.tool_calls?.length ?? 0) > 1 ? own : results;
  return said.map(({ content }) => plainText(content)).join("\n");
}

/** Each tool call of the agent is a decision; a message without one is read as a reply. */
function turnsOf(steps: readonly Step[]): { initial: string; turns: Turn[] } {
  const turns: Turn[] = [];
  let observation = "";
  let initial: string | undefined;
  const decide = (action: string | null, feedback: string) => {
    initial ??= observation;
    turns.push({ observation, action, feedback });
    observation = feedback;
  };
  for (const step of steps) {
    if (step.source === "system") continue;
    if (step.source === "user") {
      const said = plainText(step.message);
      observation = observation === "" ? said : `${observation}\n${said}`;
      const last = turns.at(-1);
      if (last !== undefined) last.feedback = observation;
      continue;
    }
    const calls = step.tool_calls ?? [];
    if (calls.length === 0) decide(replyAction(plainText(step.message), observation), answer(step));
    for (const call of calls) {
      decide(toolAction(call.function_name, call.arguments), answer(step, call.tool_call_id));
    }
  }
  return { initial: initial ?? observation, turns };
}

export const atif = fileImporter({
  name: "atif",
  description: "ATIF v1 trajectories, one per file (JSON), or as JSON Lines",
  what: "ATIF trajectories",
  unaligned: "trajectories hold texts and actions, no states",
  recognise: (first) =>
    typeof first.schema_version === "string" && first.schema_version.startsWith("ATIF-") ? 0.9 : 0,
  head: /"schema_version"\s*:\s*"ATIF-/,
  async *records(rows, scope) {
    for await (const { value, where } of rows) {
      const trajectory = check(trajectorySchema, value, where);
      const n = scope.nextRow();
      const { initial, turns } = turnsOf(trajectory.steps);
      const named = trajectory.extra?.environment;
      const environment =
        named == null
          ? (untoldEnvironment(
              scope.context.environment,
              trajectory.steps.flatMap((step) => [plainText(step.message), answer(step)]),
              turns.map(({ action }) => action),
            ) ?? UNKNOWN_ENVIRONMENT)
          : environmentName(named);
      const model = trajectory.agent.model_name;
      const task = trajectory.trajectory_id ?? trajectory.session_id ?? `trajectory_${n}`;
      yield {
        kind: "source",
        file: scope.path,
        ...(where.line === undefined ? {} : { line: where.line }),
        record: otherSource({
          environment,
          task,
          repetition: scope.nextRepetition(environment, task),
          ...(model == null ? {} : { origin: { model } }),
          description: alfworldTask(environment, initial),
          initial,
          turns,
        }),
      };
    }
  },
});
