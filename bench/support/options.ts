import type { ModelConfig } from "../../src/tensor/index.ts";
import type { WeightFormat } from "../../src/tensor/tensor.ts";
import { WEIGHT_FORMATS } from "../../src/tensor/weight-format.ts";
import { QWEN3_SIZES } from "./qwen3-sizes.ts";

/** A number option, or what stands for it when absent. */
export function numberOr(text: string | undefined, otherwise: number): number {
  return text === undefined ? otherwise : Number(text);
}

/** A format of weights, or `otherwise` when absent. */
export function formatOr(text: string | undefined, otherwise: WeightFormat): WeightFormat {
  const format = WEIGHT_FORMATS.find((known) => known === (text ?? otherwise));
  if (format === undefined) throw new Error(`--format: one of ${WEIGHT_FORMATS.join(", ")}, not ${text}`);
  return format;
}

/** The config of a size that `--model` names. */
export function sizeNamed(name: string): ModelConfig {
  const config = QWEN3_SIZES[name];
  if (config === undefined) throw new Error(`--model: one of ${Object.keys(QWEN3_SIZES).join(", ")}`);
  return config;
}
