/** Student runs: `episodes/<name>.json` and, for training, `teacher_scores/<name>.json`. A file in memory at a time. */
import { InputError } from "../../../core/errors.ts";
import type { Episode } from "../../../core/record/schema.ts";
import { type ImportFiles, label } from "../files.ts";
import { headText, readForeign } from "../foreign-json.ts";
import type { ImportContext, ImportedRecord, Importer } from "../importer.ts";
import { episodeRecord } from "./episode-record.ts";
import { studentEpisodeSchema, type TeacherScores, teacherScoresSchema } from "./schema.ts";

const JSON_NAME = /\.json(\.gz)?$/;

function isStudentFile(head: string): boolean {
  return (
    /"gamefile"\s*:/.test(head) && /"steps"\s*:/.test(head) && /"(current_obs|student_step)"\s*:/.test(head)
  );
}

function isScoresFile(head: string): boolean {
  return /"turns"\s*:/.test(head) && /"teacher_response_logprobs"\s*:/.test(head);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(JSON_NAME, "");
}

/** Path without its last folder `name` and file: what an episode and its scores share. */
function run(path: string, name: string): string | undefined {
  const parts = path.split("/");
  return parts.at(-2) === name ? parts.slice(0, -2).join("/") : undefined;
}

/** JSON files by what they are, in path order. */
async function sortFiles(files: ImportFiles): Promise<{ episodes: string[]; scores: Map<string, string> }> {
  const episodes: string[] = [];
  const scores = new Map<string, string>();
  for (const { path } of await files.list()) {
    if (!JSON_NAME.test(path)) continue;
    const scored = run(path, "teacher_scores");
    if (scored !== undefined) scores.set(JSON.stringify([scored, baseName(path)]), path);
    else if (run(path, "episodes") !== undefined) episodes.push(path);
    else {
      const head = await headText(files, path);
      if (isStudentFile(head)) episodes.push(path);
      else if (isScoresFile(head)) scores.set(JSON.stringify([path, baseName(path)]), path);
    }
  }
  return { episodes, scores };
}

export const studentRun: Importer = {
  name: "student-run",
  description: "student episodes (episodes/) with their teacher scores (teacher_scores/)",
  async detect(files) {
    const names = (await files.list()).map(({ path }) => path).filter((path) => JSON_NAME.test(path));
    const likely = [
      ...names.filter((path) => run(path, "episodes") !== undefined).slice(0, 4),
      ...names.slice(0, 4),
    ];
    for (const path of likely) {
      const head = await headText(files, path);
      if (isStudentFile(head)) return { confidence: 1, what: `a student's episode (${label(files, path)})` };
      if (isScoresFile(head))
        return { confidence: 0.9, what: `a file of teacher scores (${label(files, path)})` };
    }
    return undefined;
  },
  async *records(files, context) {
    const { episodes, scores } = await sortFiles(files);
    for (const path of episodes) {
      context.signal?.throwIfAborted();
      const file = label(files, path);
      const foreign = await readForeign(files, path, studentEpisodeSchema);
      context.used(path);
      const record = episodeRecord(baseName(path), foreign, file);
      yield { kind: "episode", record, file: path };
      const key = JSON.stringify([run(path, "episodes") ?? path, baseName(path)]);
      const scored = scores.get(key);
      scores.delete(key);
      if (scored !== undefined) {
        yield* scoresOf(files, scored, record, context);
      } else if (foreign.is_evaluation === true) {
        context.unaligned("evaluation episodes are recorded without states");
      }
    }
    for (const path of scores.values()) {
      context.warn(
        path,
        "no episode with this name was imported with it: its scores are not checked against the responses",
      );
      yield* scoresOf(files, path, undefined, context);
    }
  },
};

async function* scoresOf(
  files: ImportFiles,
  path: string,
  episode: Episode | undefined,
  context: ImportContext,
): AsyncGenerator<ImportedRecord> {
  const scores = await readForeign(files, path, teacherScoresSchema);
  context.used(path);
  if (episode !== undefined) checkScores(scores, episode, label(files, path), context, path);
  for (const [t, turn] of scores.turns.entries()) {
    if (turn.response_ids && turn.response_ids.length !== turn.teacher_response_logprobs.length) {
      throw new InputError(
        `${turn.teacher_response_logprobs.length} values for ${turn.response_ids.length} response_ids; expected one for each response token`,
        { file: label(files, path), key: `turns[${t}].teacher_response_logprobs` },
      );
    }
    const id = `${episode?.episode ?? baseName(path)}:${t}`;
    yield { kind: "score", record: { id, logprobs: turn.teacher_response_logprobs }, file: path };
  }
}

/** Scores belong to an episode when there is one list a decision and the scored tokens are the response's. */
function checkScores(
  scores: TeacherScores,
  episode: Episode,
  file: string,
  context: ImportContext,
  path: string,
): void {
  const { decisions } = episode;
  if (scores.turns.length !== decisions.length) {
    throw new InputError(
      `${scores.turns.length} turns for ${decisions.length} decisions of episode ${JSON.stringify(episode.episode)}`,
      { file, key: "turns" },
    );
  }
  for (const [t, turn] of scores.turns.entries()) {
    const ids = decisions[t]!.response_ids;
    if (ids !== undefined && turn.response_ids && !sameIds(ids, turn.response_ids)) {
      throw new InputError(
        `differ from the response of decision ${t} of episode ${JSON.stringify(episode.episode)}`,
        {
          file,
          key: `turns[${t}].response_ids`,
        },
      );
    }
    const tokens = ids?.length ?? turn.teacher_response_logprobs.length;
    if (tokens !== turn.teacher_response_logprobs.length) {
      throw new InputError(
        `${turn.teacher_response_logprobs.length} values for ${tokens} response_ids; expected one for each response token`,
        { file, key: `turns[${t}].teacher_response_logprobs` },
      );
    }
    const prompt = decisions[t]!.prompt_ids?.length;
    if (prompt !== undefined && typeof turn.prompt_length === "number" && prompt !== turn.prompt_length) {
      context.warn(
        path,
        `${turn.prompt_length}, but the student's prompt has ${prompt} tokens`,
        `turns[${t}].prompt_length`,
      );
    }
  }
}

function sameIds(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}
