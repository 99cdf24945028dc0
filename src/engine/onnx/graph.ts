import type { InferenceSession } from "onnxruntime-web";
import { InputError } from "../../core/errors.ts";

/** Number formats of keys, values and logits that exports use. */
export type CacheType = "float32" | "float16";

/** What a decoder's graph takes and gives, read off its inputs and outputs. */
export interface DecoderGraph {
  /** Pairs of a layer's past and present tensors, keys and values alike. */
  cache: readonly { past: string; present: string }[];
  cacheType: CacheType;
  /** G: key/value heads. */
  keyValueHeads: number;
  /** D */
  headSize: number;
  /** V: the last dimension of the logits; null where the graph leaves it open. */
  vocabulary: number | null;
  takesPositions: boolean;
}

/**
 * Reads a graph with a key/value cache: `input_ids`, `attention_mask`, optionally `position_ids`, and
 * `past_key_values.N.key|value` → `logits` and `present.N.key|value`, as the exporters of Hugging Face and ONNX Runtime
 * name them.
 *
 * @throws InputError when an input is none of these, or a size is neither in the graph nor in the configuration
 */
export function readDecoderGraph(
  session: Pick<InferenceSession, "inputMetadata" | "outputMetadata">,
  headSize: number | null,
  file: string,
): DecoderGraph {
  const { inputMetadata: inputs, outputMetadata: outputs } = session;
  const names = new Set(inputs.map(({ name }) => name));
  const given = new Map(outputs.map((output) => [output.name, output]));
  for (const name of ["input_ids", "attention_mask"])
    if (!names.has(name)) throw new InputError(`the graph has no input ${name}`, { file, key: name });
  const logits = given.get("logits");
  if (logits === undefined || !logits.isTensor)
    throw new InputError("the graph has no output logits", { file, key: "logits" });

  const cache: { past: string; present: string }[] = [];
  let first: InferenceSession.TensorValueMetadata | null = null;
  for (const input of inputs) {
    const past = /^past_key_values\.(\d+)\.(key|value)$/.exec(input.name);
    if (past !== null) {
      const present = `present.${past[1]}.${past[2]}`;
      if (!given.has(present))
        throw new InputError(`the graph takes ${input.name} and gives no ${present}`, { file, key: present });
      if (input.isTensor) first ??= input;
      cache.push({ past: input.name, present });
    } else if (!["input_ids", "attention_mask", "position_ids"].includes(input.name)) {
      throw new InputError(
        "unknown input; expected input_ids, attention_mask, position_ids and past_key_values.N.key|value",
        { file, key: input.name },
      );
    }
  }
  if (first === null)
    throw new InputError(
      "the graph has no past_key_values inputs: export it with a key/value cache (text-generation-with-past)",
      { file },
    );
  if (first.type !== "float32" && first.type !== "float16")
    throw new InputError(`expected a cache of float32 or float16, got ${first.type}`, {
      file,
      key: first.name,
    });
  const [, heads, , size] = first.shape;
  const depth = typeof size === "number" && size > 0 ? size : headSize;
  if (typeof heads !== "number" || heads <= 0 || depth === null)
    throw new InputError(
      `the shape [${first.shape.join(", ")}] leaves heads or head size open; expected them there or in config.json (head_dim)`,
      { file, key: first.name },
    );
  const last = logits.shape.at(-1);
  return {
    cache,
    cacheType: first.type,
    keyValueHeads: heads,
    headSize: depth,
    vocabulary: typeof last === "number" && last > 0 ? last : null,
    takesPositions: names.has("position_ids"),
  };
}
