/** `gcopd evaluate`: a student's SR, Score and Rounds over tasks and seeds. */
import { join } from "node:path";
import { environmentRules } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import {
  type Comparison,
  compareEvaluations,
  type EvaluatedEpisode,
  type EvaluationResults,
  evaluationResults,
} from "../../core/evaluation/index.ts";
import { type EvaluateConfig, livePlay, playedEpisode } from "../../core/loop/index.ts";
import { readRecords } from "../../core/record/read.ts";
import type { Episode } from "../../core/record/schema.ts";
import { openBytes, writeOut } from "../io.ts";
import { type PlayRunOptions, playRun } from "./play-run.ts";
import { withoutIds } from "./progress-log.ts";
import { withSampling } from "./with-sampling.ts";

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
      episodes: ({ tasks }) =>
        config.seeds.flatMap((seed) =>
          tasks.map((live) => {
            const id = `${live.task}#${seed}`;
            const task = withSampling(
              livePlay(live, "evaluate", { episode: id, repetition: seed, seed: 0 }),
              config,
            );
            const record = async (played: Parameters<typeof playedEpisode>[0]) => {
              const { decisions, ...episode } = playedEpisode(played);
              return { ...episode, decisions: decisions.map(withoutIds), repetition: seed };
            };
            return { id, how: { task, record } };
          }),
        ),
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

/** Says which episodes are no result; null where all are. */
function technicalNote({ technical }: EvaluationResults, episodes: number): string | null {
  const [first] = technical;
  if (first === undefined) return null;
  const tasks = new Set(technical.map(({ task }) => task)).size;
  return (
    `${technical.length} of ${episodes} episodes ended for a technical reason and are no results: the figures leave out ` +
    `${tasks === 1 ? "their task" : `their ${tasks} tasks`} (first: ${first.task}, seed ${first.seed}: ${first.reason})`
  );
}

/** The episodes of a finished evaluation. @throws InputError when the folder holds none */
async function evaluatedEpisodes(folder: string): Promise<EvaluatedEpisode[]> {
  const file = join(folder, EPISODES);
  const found: EvaluatedEpisode[] = [];
  for await (const { record, line } of readRecords(openBytes(file), { file, kind: "episode" })) {
    const { environment, task, repetition, outcome, decisions } = record;
    if (typeof repetition !== "number") {
      throw new InputError("missing; expected the number that an evaluation writes", {
        file,
        line,
        key: "repetition",
      });
    }
    const rules = environmentRules(environment);
    found.push({
      task,
      type: rules.taskType(task),
      seed: repetition,
      success: outcome.success,
      score: rules.evaluationScore(record),
      decisions: decisions.length,
      ...(outcome.ended === "technical" ? { technical: String(outcome.technical_reason) } : {}),
    });
  }
  return found;
}
