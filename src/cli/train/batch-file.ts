/** batch.jsonl of a run: the tokens of its latest step, for a person to look at. */
import type { BatchTokens, TextCodec } from "../../core/loop/index.ts";
import { writeWholeSync } from "../../node/whole-file.ts";

/** Replaces the file in one move: a line for the step, then one for each decision. */
export function writeBatch(path: string, { step, decisions }: BatchTokens, codec: TextCodec): void {
  const lines = decisions.map(({ ids, ...decision }) => ({
    episode: decision.episode,
    decision: decision.decision,
    ...(decision.bridge ? { bridge: true } : {}),
    weight: decision.weight,
    ids,
    tokens: ids.map((id) => codec.decode([id])),
    logprobs: [...decision.logprobs],
    teacher_logprobs: decision.teacherLogprobs === null ? null : [...decision.teacherLogprobs],
    ratio: [...decision.ratio],
    advantage: [...decision.advantage],
    clipped: [...decision.clipped],
  }));
  const text = [{ step, decisions: lines.length }, ...lines].map((line) => `${JSON.stringify(line)}\n`);
  // Only this run writes here: what a kill left under this name is written over.
  writeWholeSync(path, text.join(""), { temporary: `${path}.part` });
}
