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
import {
  differingSettings,
  type EvaluateConfig,
  evaluationEpisodes,
  type PlaySettings,
} from "../../core/loop/index.ts";
import type { Episode } from "../../core/record/schema.ts";
import { parseObject, readRecords } from "../../formats/read.ts";
import { isThere } from "../../node/file-error.ts";
import { openBytes, readText, writeOut } from "../io.ts";
import { type PlayRunOptions, playRun, RUN, settingsOf } from "./play-run.ts";

const EPISODES = "episodes.jsonl";

/** A comparison, and how differently the two were played; null where the other's folder does not say. */
export interface EvaluationsCompared extends Comparison {
  differing: string[] | null;
}

/** Writes `episodes.jsonl` and `results.json`, and with `against` `comparison.json`. */
export async function evaluate({
  against,
  ...options
}: PlayRunOptions & { config: EvaluateConfig; against?: string }): Promise<{
  results: EvaluationResults;
  comparison: EvaluationsCompared | null;
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
  let comparison: EvaluationsCompared | null = null;
  if (other !== null) {
    const theirs = await settingsIn(against!);
    const differing =
      theirs === null ? null : differingSettings(await settingsOf("evaluate", config), theirs);
    comparison = { ...compareEvaluations(mine, other), differing };
    await writeOut(join(out, "comparison.json"), [`${JSON.stringify(comparison, null, 2)}\n`]);
  }
  return { results, comparison };
}

/** How the episodes of a folder were played; null where it does not say, as in earlier versions. */
async function settingsIn(folder: string): Promise<PlaySettings | null> {
  const file = join(folder, RUN);
  if (!isThere(file)) return null;
  const { play_settings: settings } = parseObject(await readText(file), { file });
  return typeof settings === "object" ? (settings as PlaySettings | null) : null;
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
