import { InputError } from "../../core/errors.ts";

/** What a model takes. */
export interface ModelLimits {
  vocabulary: number;
  /** Longest sequence, prompt and response together. */
  maxPositions: number;
}

/** Refuses, by file, line and key, ids that the model does not have and sequences that it cannot take. */
export function checkIds(
  record: { prompt_ids: readonly number[]; response_ids: readonly number[] },
  limits: ModelLimits,
  where: { file: string; line: number },
): void {
  for (const key of ["prompt_ids", "response_ids"] as const) {
    const place = record[key].findIndex((id) => id >= limits.vocabulary);
    if (place >= 0) {
      throw new InputError(
        `id ${record[key][place]} is not in the model's vocabulary of ${limits.vocabulary}: a tokenizer that does not fit the model`,
        { ...where, key: `${key}[${place}]` },
      );
    }
  }
  const length = record.prompt_ids.length + record.response_ids.length;
  if (length > limits.maxPositions) {
    throw new InputError(
      `prompt and response have ${length} tokens, the model takes ${limits.maxPositions} (max_position_embeddings)`,
      { ...where, key: "prompt_ids" },
    );
  }
}
