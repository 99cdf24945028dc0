/**
 * The golden values of fixtures/models, checked on any backend, in Node or in a page. A check throws at the first
 * value beyond the tolerance of the fixtures' README and otherwise returns the largest deviations that it met.
 */
import { checkDecisions, checkForward, checkLogits, checkTrace } from "./golden-forward.ts";
import { checkGenerate } from "./golden-generation.ts";
import type { Deviations, Goldens } from "./golden-meter.ts";
import { checkAdamW, checkAdamWUnit, checkGradient } from "./golden-training.ts";

export type { Deviations, Goldens } from "./golden-meter.ts";

export interface GoldenCheck {
  name: string;
  run(goldens: Goldens): Promise<Deviations>;
}

/** The files behind the checks, for readers that cannot list a folder, such as one over fetch. */
export const GOLDEN_FILES: Readonly<Record<string, readonly string[]>> = {
  "qwen3-a": ["config.json", "model.safetensors"],
  "qwen3-a-bf16": ["config.json", "model.safetensors"],
  "qwen3-b": ["config.json", "model.safetensors"],
  ...Object.fromEntries(
    ["qwen3-a-bf16-sharded", "qwen3-b-bf16-sharded"].map((folder) => [
      folder,
      [
        "config.json",
        "model.safetensors.index.json",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
      ],
    ]),
  ),
  qwen3_5: ["config.json", "model.safetensors"],
  "qwen3_5-bf16": ["config.json", "model.safetensors"],
  "qwen3_5-bf16-wrapper-sharded": [
    "config.json",
    "model.safetensors.index.json",
    "model.safetensors-00001-of-00002.safetensors",
    "model.safetensors-00002-of-00002.safetensors",
  ],
  goldens: ["adamw-unit.json", "adamw-unit.safetensors"],
  ...Object.fromEntries(
    ["goldens/qwen3-a", "goldens/qwen3-b", "goldens/qwen3_5"].map((folder) => [
      folder,
      [
        "forward.safetensors",
        "forward-bf16.safetensors",
        "trace.safetensors",
        "gradient.safetensors",
        "adamw.safetensors",
        "adamw.json",
        "generate.json",
      ],
    ]),
  ),
};

/** The folders with the same model in bfloat16. */
const BF16_FOLDERS = {
  "qwen3-a": ["qwen3-a-bf16", "qwen3-a-bf16-sharded"],
  "qwen3-b": ["qwen3-b-bf16-sharded"],
  qwen3_5: ["qwen3_5-bf16", "qwen3_5-bf16-wrapper-sharded"],
} as const;

export const GOLDEN_CHECKS: readonly GoldenCheck[] = [
  { name: "AdamW on given gradients", run: checkAdamWUnit },
  ...(["qwen3-a", "qwen3-b", "qwen3_5"] as const).flatMap((model): GoldenCheck[] => [
    { name: `${model}: every intermediate of eight tokens`, run: (goldens) => checkTrace(goldens, model) },
    { name: `${model}: log-probabilities`, run: (goldens) => checkForward(goldens, model, model) },
    { name: `${model}: decisions of one text`, run: (goldens) => checkDecisions(goldens, model) },
    { name: `${model}: logits and entropies`, run: (goldens) => checkLogits(goldens, model) },
    ...BF16_FOLDERS[model].map(
      (folder): GoldenCheck => ({
        name: `${folder}: log-probabilities`,
        run: (goldens) => checkForward(goldens, model, folder),
      }),
    ),
    { name: `${model}: loss and gradients`, run: (goldens) => checkGradient(goldens, model) },
    { name: `${model}: three AdamW steps`, run: (goldens) => checkAdamW(goldens, model) },
    { name: `${model}: greedy and sampled continuations`, run: (goldens) => checkGenerate(goldens, model) },
  ]),
];
