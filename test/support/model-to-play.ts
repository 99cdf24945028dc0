import { collectConfigSchema } from "../../src/core/loop/live-config.ts";
import type { ScratchFolder } from "./scratch-folder.ts";

/** What a test of disk faults plays with: a model folder, whose files are looked at and not opened, and its config. */
export function modelToPlay({ at, write }: Pick<ScratchFolder, "at" | "write">) {
  const made = { count: 1, seed: 1, size: "small" } as const;
  const environment = { name: "alfworld", made, max_decisions: 1, max_tokens: 2 } as const;
  return {
    environment,
    model: () => {
      for (const name of ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"])
        write(`model/${name}`, `{"of":"${name}"}`);
    },
    config: () => collectConfigSchema.parse({ environment, model: at("model"), repetitions: 2, at_once: 2 }),
  };
}
