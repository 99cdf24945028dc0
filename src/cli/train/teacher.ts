/** The teacher of a training job: a model that is opened here, or one that another program serves. */
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import {
  batchRows,
  configuredTeacher,
  isFreshRun,
  isServed,
  liveRollout,
  STUDENT_TEACHER,
  type TrainConfig,
} from "../../core/loop/index.ts";
import { tryReset } from "../../core/loop/try-reset.ts";
import type { Sampler, ScoreRequest, Scorer } from "../../core/ports.ts";
import type { PassOptions } from "../../engine/native/index.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import {
  calibration,
  calibrationSet,
  calibrationText,
  isFarApart,
  RemoteSampler,
} from "../../engine/remote/index.ts";
import { checkSchema } from "../../formats/read.ts";
import { isThere } from "../../node/file-error.ts";
import { readModelHeader } from "../../tensor/index.ts";
import type { Compute } from "../engine/compute.ts";
import { limitBytes } from "../engine/memory-options.ts";
import { openServedScorer, openServer } from "../engine/served.ts";
import { readText, writeOut } from "../io.ts";
import { newestCheckpoint } from "./checkpoints.ts";
import type { TrainingInputs } from "./inputs.ts";
import type { TrainingRun } from "./training-run.ts";

/** The teacher's folder, its address where a server runs it, or null where no stage asks one. */
export function teacherOf(config: TrainConfig, { parent }: Pick<TrainingInputs, "parent">): string | null {
  const teacher = configuredTeacher(config);
  return teacher === STUDENT_TEACHER ? (parent?.name ?? config.student) : teacher;
}

/** @throws InputError when it cannot be opened, does not fit the tokenizer, or is a server that is not to be trusted */
export async function openTeacher(
  run: TrainingRun,
  inputs: TrainingInputs,
  compute: Compute,
  passes: PassOptions | undefined,
): Promise<Scorer | null> {
  const { teacher_dtype: weights } = run.config;
  const named = teacherOf(run.config, inputs);
  if (named === null) return null;
  if (isServed(named)) return servedTeacher(run, inputs, compute, named);
  const teacher = await compute.openScorer(named, { weights, ...passes, signal: run.signal });
  inputs.tokenizer.fits("teacher", { name: named, vocabulary: teacher.info.vocabulary });
  return teacher;
}

/** What served the teacher when the run began, in its folder. */
const FILE = "teacher.json";

const recordSchema = z.strictObject({
  server: z.string(),
  model: z.string(),
  same_tokenizer: z.boolean(),
  calibration: z
    .strictObject({
      against: z.string(),
      decisions: z.int(),
      tokens: z.int(),
      largest: z.number(),
      mean: z.number(),
    })
    .nullable(),
  /** Some decisions and the server's log-probabilities of them: by these it is known again. */
  scored: z.array(
    z.strictObject({
      id: z.string(),
      prompt_ids: z.array(z.int()),
      response_ids: z.array(z.int()),
      logprobs: z.array(z.number()),
    }),
  ),
});

type TeacherRecord = z.infer<typeof recordSchema>;

/** It scores and, for bridges, samples. A run that goes on scores the decisions of its start again. */
async function servedTeacher(
  run: TrainingRun,
  inputs: TrainingInputs,
  compute: Compute,
  url: string,
): Promise<Scorer & Sampler> {
  const { config, out, onNote, signal } = run;
  const { teacher_model: name, calibrate_with: folder, teacher_dtype: weights } = config;
  const { codec, writer, fits } = inputs.tokenizer;
  let vocabulary = writer.vocabularySize;
  if (folder !== undefined) {
    vocabulary = (await readModelHeader(openFolder(folder))).config.vocabularySize;
    fits("teacher", { name: folder, vocabulary });
  }
  const served = await openServer("teacher", url, { name, key: "teacher_model" }, { onNote, signal });
  const file = join(out, FILE);
  const goesOn = out !== "" && (await newestCheckpoint(join(out, "checkpoints"))) !== null;
  const began = goesOn && isThere(file) ? await readRecord(file) : null;
  const requests: readonly ScoreRequest[] =
    began?.scored.map(({ id, prompt_ids: promptIds, response_ids: responseIds }) => ({
      id,
      promptIds,
      responseIds,
    })) ?? (await someDecisions(run, inputs));
  const limit = limitBytes(config.memory_limit_gib);
  const own = folder === undefined ? null : { folder, weights, compute, limit };
  const { scorer, scores } = await openServedScorer(
    served,
    requests,
    { tokenizer: writer, vocabulary, own },
    { onNote, signal },
  );
  // Three steps at a learning rate of 0 would have these scores, and the same losses where they repeat.
  for (let n = 0; n < 2 && requests.length > 0; n += 1) {
    const again = calibration(
      await scorer.score(requests, { signal }),
      scores,
      "its own scores of a moment ago",
    );
    if (isFarApart(again, served.server.base))
      onNote(`gcopd: warning: ${served.server.base}: ${calibrationText(again)}`);
  }
  const by = served.found.kind;
  if (began !== null) {
    if (began.server !== by)
      onNote(`gcopd: warning: this run began with ${began.server}, and goes on with ${by}`);
    const again = calibration(
      scores,
      began.scored,
      `the answers with which this run began (${began.server})`,
    );
    if (isFarApart(again, served.server.base))
      onNote(`gcopd: warning: ${served.server.base}: ${calibrationText(again)}`);
  } else if (out !== "" && !goesOn) {
    const { sameTokenizer: same_tokenizer, calibration: found } = scorer.info.served!;
    const record: TeacherRecord = {
      ...{ server: by, model: served.found.model, same_tokenizer, calibration: found },
      scored: requests.map(({ id, promptIds, responseIds }, n) => ({
        id,
        prompt_ids: [...promptIds],
        response_ids: [...responseIds],
        logprobs: [...scores[n]!.logprobs],
      })),
    };
    await writeOut(file, [`${JSON.stringify(record)}\n`]);
  }
  const sampler = new RemoteSampler(served.server, served.found.protocol(codec), { onNote });
  return Object.assign(scorer, { sample: sampler.sample.bind(sampler) });
}

const readRecord = async (file: string): Promise<TeacherRecord> =>
  checkSchema(recordSchema, parseJsonText(await readText(file), { file }), { file });

/** Episodes that decisions are chosen from: of a long file the first ones do. */
const EPISODES = 64;

/** Tokens of a prompt's end that are scored where there are no responses yet. */
const TAIL = 64;

/** The shortest, the middle and the longest of some decisions of the run, before any evidence. */
export async function someDecisions(
  { config }: TrainingRun,
  { episodes, games, tokenizer: { codec } }: TrainingInputs,
): Promise<ScoreRequest[]> {
  const some = episodes.slice(0, EPISODES);
  if (!isFreshRun(config)) {
    const rows = some.flatMap((episode) => batchRows([episode], codec));
    return calibrationSet(
      rows.map(({ episode: { episode }, decision, promptIds, responseIds }) => ({
        id: `${episode}#${decision}`,
        promptIds,
        responseIds,
      })),
    );
  }
  const prompts: { id: string; ids: readonly number[] }[] = [];
  for (const { episode, environment, decisions } of some)
    for (const [n, decision] of decisions.entries())
      prompts.push({
        id: `${episode}#${n}`,
        ids: codec.prompt(decision, environment, { episode, decision: n }).ids,
      });
  for (const live of games?.tasks.slice(0, 3) ?? []) {
    const { task, environment: name, open } = liveRollout(live);
    const { environment, prompt } = await open();
    try {
      const start = await tryReset(environment, task);
      if ("unanswered" in start) throw new InputError(`${task} does not begin: ${start.unanswered}`);
      const { message, earlier } = prompt(start, start, []);
      const { ids } = codec.prompt({ prompt: message, earlier }, name, { episode: task, decision: 0 });
      prompts.push({ id: `${task}#0`, ids });
    } finally {
      await environment.close();
    }
  }
  // Nothing was drawn yet: the end of a prompt stands for the response to its beginning.
  return calibrationSet(
    prompts.map(({ id, ids }) => {
      const from = ids.length - Math.min(TAIL, Math.floor(ids.length / 2));
      return { id, promptIds: ids.slice(0, from), responseIds: ids.slice(from) };
    }),
  );
}
