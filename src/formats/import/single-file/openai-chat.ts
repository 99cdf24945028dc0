/** OpenAI chat JSONL: `{messages: [{role, content}]}`, the action in `<action>`, after `Action:` or in a tool call. */
import { z } from "zod";
import { type Message, turnsOf } from "./dialogue.ts";
import { environmentName, UNKNOWN_ENVIRONMENT, untoldEnvironment } from "./environment-of.ts";
import { alfworldTask, otherSource } from "./execution.ts";
import { fileImporter } from "./file-importer.ts";
import { replyAction, toolAction } from "./reply.ts";
import { check, listOrText } from "./rows.ts";

const ROLES = ["system", "developer", "user", "assistant", "tool", "function"] as const;

const partSchema = z.looseObject({ type: z.string(), text: z.string().nullish() });

const messageSchema = z.looseObject({
  role: z.enum(ROLES),
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
  tool_calls: z
    .array(z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.unknown() }) }))
    .nullish(),
});

const rowSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  environment: z.string().nullish(),
  messages: listOrText(messageSchema),
});

type Chat = z.infer<typeof messageSchema>;

function contentText(content: Chat["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text }) => text ?? "").join("");
}

function asMessage(message: Chat): Message | undefined {
  const text = contentText(message.content);
  if (message.role === "system" || message.role === "developer") return undefined;
  if (message.role !== "assistant") return { side: "environment", text };
  const call = message.tool_calls?.[0]?.function;
  return call == null
    ? { side: "agent", text }
    : { side: "agent", text, action: toolAction(call.name, call.arguments) };
}

export const openaiChat = fileImporter({
  name: "openai-chat",
  description: "OpenAI chat messages, as JSON Lines, JSON or Parquet",
  what: "chats in OpenAI form",
  unaligned: "chats hold texts and actions, no states",
  recognise: (first) => (Array.isArray(first.messages) || typeof first.messages === "string" ? 0.8 : 0),
  head: /"messages"\s*:\s*\[/,
  async *records(rows, scope) {
    for await (const { value, where } of rows) {
      const row = check(rowSchema, value, where);
      const n = scope.nextRow();
      for (const [i, message] of row.messages.entries()) {
        const key = `${where.key === undefined ? "" : `${where.key}.`}messages[${i}]`;
        if ((message.tool_calls?.length ?? 0) > 1) {
          scope.context.warn(
            scope.path,
            `line ${where.line ?? "?"}: only the first tool call is a decision`,
            key,
          );
        }
        if (Array.isArray(message.content) && message.content.some(({ text }) => text == null)) {
          scope.context.warn(scope.path, "parts without text (images) are left out", key);
        }
      }
      const messages = row.messages.map(asMessage).filter((message) => message !== undefined);
      const { initial, turns } = turnsOf(messages, replyAction);
      const environment =
        row.environment == null
          ? (untoldEnvironment(
              scope.context.environment,
              messages.map(({ text }) => text),
              turns.map(({ action }) => action),
            ) ?? UNKNOWN_ENVIRONMENT)
          : environmentName(row.environment);
      const task = row.id == null ? `chat_${n}` : String(row.id);
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
