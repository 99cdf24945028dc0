import type { ModelConfig } from "../../src/tensor/index.ts";
import { QWEN3_SIZES } from "./qwen3-sizes.ts";

/** A number option, or what stands for it when absent. */
export function numberOr(text: string | undefined, otherwise: number): number {
  return text === undefined ? otherwise : Number(text);
}

/** The config of a size that `--model` names. */
export function sizeNamed(name: string): ModelConfig {
  const config = QWEN3_SIZES[name];
  if (config === undefined) throw new Error(`--model: one of ${Object.keys(QWEN3_SIZES).join(", ")}`);
  return config;
}
