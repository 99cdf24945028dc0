/** The state of a checkpoint as its file holds it. */
import { z } from "zod";
import { InputError } from "../errors.ts";
import { evaluationResultsShape } from "../evaluation/index.ts";
import { checkedBy } from "../record/describe-issue.ts";
import { CHECKPOINT_FORMAT, type CheckpointState } from "./checkpoint.ts";

/** Its name in a checkpoint's folder. */
export const STATE_FILE = "checkpoint.json";

const count = z.int().min(0);

const schema = z.strictObject({
  format: z.literal(CHECKPOINT_FORMAT),
  step: count,
  position: z.strictObject({ stage: count, epoch: count, batch: count }),
  fingerprint: z.record(z.string(), z.string()),
  settings: z.record(z.string(), z.number()).optional(),
  depth: z.strictObject({ stage: count, average: z.number() }).optional(),
  evaluation: z.strictObject({ ...evaluationResultsShape, seconds: z.number() }).optional(),
});

export const stateText = (state: CheckpointState): string => `${JSON.stringify(state, null, 2)}\n`;

/** @throws InputError with the file and the key */
export function parseState(text: string, file: string): CheckpointState {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InputError("not JSON", { file });
  }
  return checkedBy(schema, value, { file });
}

/** That no checkpoint of several is as it was written, each with its reason. */
export const allDamaged = (
  damaged: readonly { name: string; reason: string }[],
  then: string,
  file: string,
) =>
  new InputError(
    `no checkpoint here can be used (${damaged.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}); ${then}`,
    { file },
  );
