import { parseJsonObject } from "./checkpoint.ts";
import type { MixerType, SavedDtype } from "./common-config.ts";
import { ConfigFields } from "./config-fields.ts";
import {
  parseQwen3_5Config,
  parseQwen3_5TextConfig,
  type Qwen3_5Config,
  qwen3_5ConfigJson,
} from "./qwen3-5-config.ts";
import { parseQwen3Config, type Qwen3Config, qwen3ConfigJson } from "./qwen3-config.ts";

/** A language model's sizes and constants, checked; `architecture` says which equations it computes. */
export type ModelConfig = Qwen3Config | Qwen3_5Config;

/** The parsers by `model_type`. */
const PARSERS: Readonly<Record<string, (fields: ConfigFields) => ModelConfig>> = {
  qwen3: parseQwen3Config,
  qwen3_5: parseQwen3_5Config,
  qwen3_5_text: parseQwen3_5TextConfig,
};

export const SUPPORTED_MODEL_TYPES: readonly string[] = Object.keys(PARSERS);

/** Reads a config.json. Another architecture, a missing key or an option that would change the numbers is an InputError. */
export function parseModelConfig(text: string, file: string): ModelConfig {
  const fields = new ConfigFields(parseJsonObject(text, file), file);
  const type = fields.json["model_type"];
  const parse = typeof type === "string" && Object.hasOwn(PARSERS, type) ? PARSERS[type] : undefined;
  const supported = SUPPORTED_MODEL_TYPES.join(", ");
  if (parse === undefined)
    return fields.fail(
      "model_type",
      `${fields.shown("model_type")} is not a supported architecture (supported: ${supported})`,
    );
  return parse(fields);
}

/** config.json for saving: what was read, with the dtype of the saved weights, or what describes a new model. */
export function modelConfigJson(config: ModelConfig, dtype: SavedDtype): string {
  const json =
    config.architecture === "qwen3" ? qwen3ConfigJson(config, dtype) : qwen3_5ConfigJson(config, dtype);
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** What mixes the tokens in a layer, counted from 0: attention, or the gated delta rule of Qwen3.5. */
export function mixerType(config: ModelConfig, layer: number): MixerType {
  return config.architecture === "qwen3" ? "full_attention" : config.mixers[layer]!;
}

/** Numbers at the beginning of each query and key head that turn with the position. */
export function rotarySize(config: ModelConfig): number {
  return config.architecture === "qwen3" ? config.headSize : config.rotarySize;
}

/** Full attention is followed by a sigmoid gate, whose rows lie in the query projection. */
export function hasOutputGate(config: ModelConfig): boolean {
  return config.architecture === "qwen3_5";
}

/** 1 where norm weights are stored around zero; that of a Gated DeltaNet's output never is. */
export function normOffset(config: ModelConfig): 0 | 1 {
  return config.architecture === "qwen3_5" ? 1 : 0;
}

/** Whether a layer has a state that each token changes, from which continuations set out, in place of keys to look back at. */
export function isRecurrent(config: ModelConfig): boolean {
  return config.architecture === "qwen3_5";
}
