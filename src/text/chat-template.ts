/** The chat template of tokenizer_config.json, rendered as the reference library does. */
import { z } from "zod";
import { InputError } from "../core/errors.ts";
import { checkedBy } from "../core/record/describe-issue.ts";
import { compileTemplate } from "./bounded-template.ts";

export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
}

export interface ChatOptions {
  /** End with the opening of the assistant's turn. */
  addGenerationPrompt: boolean;
  /** Left undefined, the template decides by itself. */
  enableThinking?: boolean;
}

const specialSchema = z
  .union([z.string(), z.looseObject({ content: z.string() })])
  .nullable()
  .optional();

const configSchema = z.looseObject({
  chat_template: z
    .union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))])
    .nullable()
    .optional(),
  bos_token: specialSchema,
  eos_token: specialSchema,
  unk_token: specialSchema,
  pad_token: specialSchema,
});

export type TokenizerConfig = z.infer<typeof configSchema>;

/** Checks a parsed tokenizer_config.json. */
export function checkConfig(json: unknown, file: string): TokenizerConfig {
  return checkedBy(configSchema, json, { file });
}

/** Text of a special token, which the file writes as a string or as an object. */
export function specialToken(value: TokenizerConfig["eos_token"]): string | undefined {
  return typeof value === "object" && value !== null ? value.content : (value ?? undefined);
}

function templateText(config: TokenizerConfig): string | undefined {
  const { chat_template: template } = config;
  if (!Array.isArray(template)) return template ?? undefined;
  return template.find(({ name }) => name === "default")?.template;
}

/** The template that is used: `chatTemplate` (the text of a chat_template.jinja) if given, else the config's. */
export function chatTemplateText(config: TokenizerConfig, chatTemplate?: string): string | undefined {
  return chatTemplate ?? templateText(config);
}

/** Messages → text. */
export type ChatTemplate = (messages: readonly ChatMessage[], options: ChatOptions) => string;

/**
 * Compiles the template: `chatTemplate` (the text of a chat_template.jinja) if given, else the config's. A folder
 * without one gives a function that throws an `InputError` when it is called.
 */
export function compileChatTemplate(
  config: TokenizerConfig,
  chatTemplate: string | undefined,
  file: string,
): ChatTemplate {
  const text = chatTemplateText(config, chatTemplate);
  const where = { file, key: "chat_template" };
  if (text === undefined) {
    return () => {
      throw new InputError("missing; expected a chat template to build prompts with", where);
    };
  }
  let render: ReturnType<typeof compileTemplate>;
  try {
    render = compileTemplate(text);
  } catch (error) {
    throw new InputError(`not a template: ${error instanceof Error ? error.message : String(error)}`, where);
  }
  const specials: Record<string, string> = {};
  for (const name of ["bos_token", "eos_token", "unk_token", "pad_token"] as const) {
    const token = specialToken(config[name]);
    if (token !== undefined) specials[name] = token;
  }
  return (messages, { addGenerationPrompt, enableThinking }) => {
    try {
      return render({
        ...specials,
        messages,
        add_generation_prompt: addGenerationPrompt,
        ...(enableThinking === undefined ? {} : { enable_thinking: enableThinking }),
      });
    } catch (error) {
      throw new InputError(
        `the template refuses these messages: ${error instanceof Error ? error.message : String(error)}`,
        where,
      );
    }
  };
}
