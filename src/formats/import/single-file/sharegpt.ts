/** ShareGPT-style conversations: ETO and AgentBank (`id`), AgentGym (`item_id`, with `loss` marks). */
import { z } from "zod";
import { isCustomEnvironment } from "../../../core/environment/environment.ts";
import { InputError } from "../../../core/errors.ts";
import { type Message, turnsOf } from "./dialogue.ts";
import { environmentName, UNKNOWN_ENVIRONMENT, untoldEnvironment } from "./environment-of.ts";
import { alfworldTask, otherSource } from "./execution.ts";
import { fileImporter } from "./file-importer.ts";
import { actionAfterLabel, replyAction } from "./reply.ts";
import { at, check, listOrText } from "./rows.ts";

const messageSchema = z.looseObject({
  from: z.string(),
  value: z.string(),
  loss: z.boolean().nullish(),
});

const rowSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  item_id: z.union([z.string(), z.number()]).nullish(),
  conversations: listOrText(messageSchema),
});

type Talk = z.infer<typeof messageSchema>;

const SIDES: Record<string, Message["side"] | "system"> = {
  human: "environment",
  user: "environment",
  observation: "environment",
  tool: "environment",
  gpt: "agent",
  assistant: "agent",
  system: "system",
};

function side(from: string): Message["side"] | "system" | undefined {
  return Object.hasOwn(SIDES, from) ? SIDES[from] : undefined;
}

/**
 * The first pair is the instruction and its acknowledgement. A first reply that acts, and is not marked as kept out of
 * the loss, shows that the conversation has none.
 */
function withoutInstruction(talk: readonly Talk[]): readonly Talk[] {
  const [first, second] = talk;
  if (first === undefined || second === undefined) return talk;
  if (side(first.from) !== "environment" || side(second.from) !== "agent") return talk;
  const acts =
    second.loss !== false && /^[ \t]*Action:/m.test(second.value) && actionAfterLabel(second.value);
  return acts ? talk : talk.slice(2);
}

/**
 * The environment is the id without its number. Where one was given for the import, an id says something only when it
 * names an environment that has rules: others are anybody's ("train_17").
 */
function environmentOf(id: string, texts: string[], given: string | undefined): string {
  const name = environmentName(/^(.+?)[_-]\d+$/.exec(id)?.[1] ?? (/^\d*$/.test(id) ? "" : id));
  if (name !== "" && (given === undefined || !isCustomEnvironment(name))) return name;
  return untoldEnvironment(given, texts) ?? UNKNOWN_ENVIRONMENT;
}

export const sharegpt = fileImporter({
  name: "sharegpt",
  description: "ShareGPT-style conversations (ETO, AgentBank, AgentGym), as JSON, JSON Lines or Parquet",
  what: "conversations in ShareGPT form",
  unaligned: "conversations hold texts and actions, no states",
  recognise: (first) =>
    Array.isArray(first.conversations) || typeof first.conversations === "string" ? 0.8 : 0,
  head: /"conversations"\s*:\s*\[/,
  async *records(rows, scope) {
    for await (const { value, where } of rows) {
      const row = check(rowSchema, value, where);
      const n = scope.nextRow();
      const id = String(row.id ?? row.item_id ?? "");
      const talk = row.conversations.filter(({ from }) => side(from) !== "system");
      const messages: Message[] = withoutInstruction(talk).map((message) => {
        const by = side(message.from);
        if (by === undefined || by === "system") {
          const i = row.conversations.indexOf(message);
          throw new InputError(
            `expected ${Object.keys(SIDES).join(", ")}, received ${JSON.stringify(message.from)}`,
            at(where, `conversations[${i}].from`),
          );
        }
        return { side: by, text: message.value };
      });
      const environment = environmentOf(
        id,
        row.conversations.map((message) => message.value),
        scope.context.environment,
      );
      const { initial, turns } = turnsOf(messages, replyAction);
      const task = id === "" ? `conversation_${n}` : id;
      yield {
        kind: "source",
        file: scope.path,
        ...(where.line === undefined ? {} : { line: where.line }),
        record: otherSource({
          environment,
          task,
          repetition: scope.nextRepetition(environment, task),
          description: alfworldTask(environment, initial),
          initial,
          turns,
        }),
      };
    }
  },
});
