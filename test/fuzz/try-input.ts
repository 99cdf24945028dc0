/** One fuzzed input: made from its seed and number alone, and judged. */
import { InputError } from "../../src/core/errors.ts";
import { seedOf, uniforms } from "../../src/core/seeded.ts";
import { readAnyRecords } from "../../src/formats/read.ts";
import { recordLine } from "../../src/formats/write.ts";
import { below, damageFile, pick } from "./mutate.ts";
import { type Files, type Target, withHashes } from "./targets.ts";

export interface Input {
  target: Target;
  files: Files;
}

/** Input `index` of run `seed`: always the same. */
export function makeInput(targets: readonly Target[], seed: number, index: number): Input {
  const uniform = uniforms(seedOf(`${seed}:${index}`));
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  let draw = uniform() * total;
  const target =
    targets.find(({ weight }) => {
      draw -= weight;
      return draw < 0;
    }) ?? targets[0]!;
  let files = pick(uniform, target.seeds);
  const paths = Object.keys(files);
  for (let times = uniform() < 0.85 ? 1 : 2; times > 0; times--) {
    const path = paths[below(uniform, paths.length)]!;
    const content = files[path];
    if (content === undefined) continue;
    if (paths.length > 1 && uniform() < 0.03) {
      const { [path]: _, ...rest } = files;
      files = rest;
      continue;
    }
    // Twice damaged files are no longer what their names say: only their bytes can be damaged again.
    let bytes: Uint8Array;
    try {
      bytes = (target.damage ?? damageFile)(path, content, uniform);
    } catch {
      continue;
    }
    files = target.hashed && uniform() < 0.8 ? withHashes(files, path, bytes) : { ...files, [path]: bytes };
  }
  return { target, files };
}

/** What came of an input: its records, or the one line that refused it. A string is a fault of the program. */
export type Verdict = { records: number } | { refused: string } | { fault: string };

/** Longest message that is still one clear line. */
const LONGEST_MESSAGE = 2000;

function judge(error: unknown): Verdict {
  if (!(error instanceof InputError)) {
    return { fault: error instanceof Error ? (error.stack ?? error.message) : `threw ${String(error)}` };
  }
  if (/[\n\r]/.test(error.message)) return { fault: `message of several lines: ${error.message}` };
  if (error.message.length > LONGEST_MESSAGE)
    return { fault: `message of ${error.message.length} characters` };
  if (error.message === "") return { fault: "empty message" };
  return { refused: error.message };
}

/**
 * Reads an input to its end. Records must be writable, and what was written must be valid records again; a refusal
 * must be one `InputError` of one line.
 */
export async function tryInput({ target, files }: Input): Promise<Verdict> {
  const lines: string[] = [];
  try {
    await target.run(files, (record) => {
      lines.push(recordLine(record));
    });
  } catch (error) {
    return judge(error);
  }
  try {
    let count = 0;
    for await (const _ of readAnyRecords(new TextEncoder().encode(lines.join("")), { file: "written" }))
      count++;
    if (count !== lines.length) return { fault: `${lines.length} records written, ${count} read` };
  } catch (error) {
    return {
      fault: `what was written cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  return { records: lines.length };
}
