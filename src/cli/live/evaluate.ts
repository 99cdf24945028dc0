/** `gcopd evaluate`: a student's SR, Score and Rounds over tasks and seeds. */
import { join } from "node:path";
import {
  type Comparison,
  compareEvaluations,
  type EvaluatedEpisode,
  type EvaluationResults,
  evaluatedEpisode,
  evaluationResults,
  technicalNote,
} from "../../core/evaluation/index.ts";
import { type EvaluateConfig, evaluationEpisodes } from "../../core/loop/index.ts";
import type { Episode } from "../../core/record/schema.ts";
import { readRecords } from "../../formats/read.ts";
import { openBytes, writeOut } from "../io.ts";
import { type PlayRunOptions, playRun } from "./play-run.ts";

const EPISODES = "episodes.jsonl";

/** Writes `episodes.jsonl` and `results.json`, and with `against` `comparison.json`. */
export async function evaluate({
  against,
  ...options
}: PlayRunOptions & { config: EvaluateConfig; against?: string }): Promise<{
  results: EvaluationResults;
  comparison: Comparison | null;
}> {
  const { config, out } = options;
  // Checked before hours of playing: a folder may not be comparable.
  const other = against === undefined ? null : await evaluatedEpisodes(against);
  await playRun<Episode>(
    {
      purpose: "evaluate",
      file: EPISODES,
      inGroups: true,
      episodes: ({ tasks }) => evaluationEpisodes(tasks, config),
    },
    options,
  );
  const mine = await evaluatedEpisodes(out);
  const results = evaluationResults(mine);
  const note = technicalNote(results, mine.length);
  if (note !== null) options.onNote(note);
  await writeOut(join(out, "results.json"), [`${JSON.stringify(results, null, 2)}\n`]);
  const comparison = other === null ? null : compareEvaluations(mine, other);
  if (comparison !== null) {
    await writeOut(join(out, "comparison.json"), [`${JSON.stringify(comparison, null, 2)}\n`]);
  }
  return { results, comparison };
}

/** The episodes of a finished evaluation. @throws InputError when the folder holds none */
export async function evaluatedEpisodes(folder: string): Promise<EvaluatedEpisode[]> {
  const file = join(folder, EPISODES);
  const found: EvaluatedEpisode[] = [];
  for await (const { record, line } of readRecords(openBytes(file), { file, kind: "episode" })) {
    found.push(evaluatedEpisode(record, { file, line }));
  }
  return found;
}
