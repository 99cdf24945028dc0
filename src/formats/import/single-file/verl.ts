/** verl rollout dumps: one file per step, one decision per row, so each row is an episode of one decision. */
import { z } from "zod";
import type { Episode } from "../../../core/record/schema.ts";
import { UNKNOWN_ENVIRONMENT, untoldEnvironment } from "./environment-of.ts";
import { fileImporter } from "./file-importer.ts";
import { responseAction, taggedAction } from "./reply.ts";
import { check, type Row, type Where } from "./rows.ts";

const rowSchema = z.looseObject({
  input: z.string(),
  output: z.string(),
  score: z.number().nullish(),
  step: z.number().nullish(),
});

const KNOWN = new Set(["input", "output", "score", "step"]);

/** Scores from 0 to 1; what lies above can only be a percentage, as ScienceWorld counts. */
function isSuccess(score: number): boolean {
  return score >= 100 || (score <= 1 && score >= 1 - 1e-9);
}

interface Known {
  row: z.infer<typeof rowSchema>;
  value: Record<string, unknown>;
  where: Where;
  environment: string;
}

/** Rows held back while no row has shown the environment: a dump is of one. */
const HELD_BACK = 256;

/** Rows with their environment: what a row shows, else what the rows before it do, else the first that shows one. */
async function* withEnvironment(rows: AsyncIterable<Row>, given: string | undefined): AsyncGenerator<Known> {
  let held: Omit<Known, "environment">[] = [];
  let last: string | undefined;
  for await (const { value, where } of rows) {
    const row = check(rowSchema, value, where);
    last = untoldEnvironment(given, [row.input, row.output], [taggedAction(row.output, "")]) ?? last;
    held.push({ row, value, where });
    if (last === undefined && held.length < HELD_BACK) continue;
    for (const known of held) yield { ...known, environment: last ?? UNKNOWN_ENVIRONMENT };
    held = [];
  }
  for (const known of held) yield { ...known, environment: UNKNOWN_ENVIRONMENT };
}

/** `7` of `7.jsonl`, with the folder it lies in: rows of other steps or folders never share an id. */
function stepName(path: string): string {
  return path.replace(/(\.(jsonl?|ndjson|parquet|csv))?(\.gz)?$/i, "");
}

export const verlRollouts = fileImporter({
  name: "verl",
  description:
    "verl rollout dumps (<step>.jsonl with input, output and score), as JSON Lines, JSON or Parquet",
  what: "a verl rollout dump",
  unaligned: "rollout dumps hold prompts and responses, no states",
  recognise: (first) => (typeof first.input === "string" && typeof first.output === "string" ? 0.7 : 0),
  head: /^\s*\[?\s*\{\s*"input"\s*:\s*"/,
  async *records(rows, scope) {
    let n = 0;
    for await (const { row, value, where, environment } of withEnvironment(rows, scope.context.environment)) {
      const score = row.score ?? null;
      if (score !== null && score > 1) {
        scope.context.warn(scope.path, `row ${n}: score ${score} is above 1; taken as a percentage`, "score");
      }
      const action = responseAction(row.output, row.input, environment);
      const kept = Object.fromEntries(
        Object.entries(value).filter(([key, inner]) => !KNOWN.has(key) && inner !== null),
      );
      const record: Episode = {
        format: "gcopd.episode.v1",
        environment,
        task: "verl",
        episode: `${stepName(scope.path)}:${n}`,
        task_description: "",
        initial_observation: "",
        decisions: [
          {
            observation: "",
            state: null,
            action,
            binding: null,
            status: action === null ? "malformed" : "executed",
            feedback: "",
            score: null,
            gap_before: false,
            prompt: row.input,
            response: row.output,
          },
        ],
        final_state: null,
        outcome: {
          complete: false,
          success: score !== null && isSuccess(score),
          score,
          ended: "technical",
          verified: false,
        },
        ...(score === null ? { outcome_unknown: true } : { ended_unknown: true }),
        ...(Object.keys(kept).length === 0 ? {} : { verl: kept }),
      };
      yield {
        kind: "episode",
        file: scope.path,
        ...(where.line === undefined ? {} : { line: where.line }),
        record,
      };
      n++;
    }
  },
});
