/** How long the sequences of a run get, before it starts: what its memory depends on. */
import { environmentRules } from "../environment/environment.ts";
import { type Stage, stagesTaken } from "../method/method.ts";
import type { SignalKind } from "../method/signal.ts";
import type { Episode } from "../record/schema.ts";
import type { TextCodec } from "./codec.ts";
import { batchRows } from "./rows.ts";
import type { TeacherContexts } from "./score-batch.ts";
import type { WatchedDecision } from "./watched.ts";

/** In tokens. */
export interface SequenceLengths {
  /** Prompt and response together. */
  longestSequence: number;
  longestResponse: number;
  /** Tokens of all sequences, each as often as a stage reads it; undefined where responses are still to be drawn. */
  allTokens?: number;
  /** What a stage compares beside the sampled token, the most of all stages; absent where it is that token alone. */
  compared?: Exclude<SignalKind, "sampled-token">;
}

/** What a run will do, all epochs together. Tokens are null where responses are still to be drawn. */
export interface RunWork {
  episodes: number;
  /** Student decisions with a response, each once. */
  decisions: number;
  /** Passes over the episodes: the epochs of all stages. */
  epochs: number;
  /** Tokens that the teacher reads, evidence and responses included. */
  teacherTokens: number | null;
  /** Tokens that the student reads, forward and backward. */
  studentTokens: number | null;
  /** Response tokens that are trained on. */
  responseTokens: number | null;
}

export interface RunLengthsOptions {
  episodes: Iterable<Episode> | AsyncIterable<Episode>;
  /** Names of the environments of tasks that are still to be played, each task's: their prompts get as long as they may. */
  played?: readonly string[];
  stages: readonly Stage[];
  contexts: TeacherContexts;
  codec: TextCodec;
  /**
   * Responses are still to be drawn, with so many tokens at most, each environment's own limit where that is undefined;
   * evidence then gets as long as it may.
   */
  sampled?: { responseTokens: number | undefined; evidenceTokens: number | undefined } | undefined;
  /** Decisions that the student only reads. */
  watched?: readonly Pick<WatchedDecision, "request">[] | undefined;
  signal?: AbortSignal;
}

/**
 * The longest sequences of student and teacher. Recorded responses are measured with the contexts that the teacher will
 * read; of responses that are still to be drawn only the limits are known.
 *
 * @throws InputError for what the run itself would refuse: evidence that does not fit, decisions without a prompt
 */
export async function runLengths(
  options: RunLengthsOptions,
): Promise<{ teacher: SequenceLengths; student: SequenceLengths; work: RunWork }> {
  const { episodes, contexts, codec, sampled, signal } = options;
  const stages = stagesTaken(options);
  const compared = (["full-vocabulary", "top-k"] as const).find((kind) =>
    stages.some(({ signal }) => signal?.kind === kind),
  );
  const none = { longestSequence: 0, longestResponse: 0, ...(compared === undefined ? {} : { compared }) };
  const teacher: SequenceLengths = { ...none };
  const student: SequenceLengths = { ...none };
  const grow = (lengths: SequenceLengths, prompt: number, response: number): void => {
    lengths.longestSequence = Math.max(lengths.longestSequence, prompt + response);
    lengths.longestResponse = Math.max(lengths.longestResponse, response);
  };
  const growAll = (lengths: SequenceLengths, prompt: number, response: number): void => {
    grow(lengths, prompt, response);
    lengths.allTokens = (lengths.allTokens ?? 0) + prompt + response;
  };
  const epochs = stages.reduce((sum, stage) => sum + stage.epochs, 0);
  const work = { episodes: 0, decisions: 0, epochs, teacherTokens: 0, studentTokens: 0, responseTokens: 0 };
  const withEvidence = stages.some(({ evidence }) => evidence.kind !== "none");
  const growTo = (environment: string, prompts: readonly number[]): void => {
    const { limits } = environmentRules(environment);
    const { responseTokens = limits.responseTokens, evidenceTokens = limits.evidenceTokens } = sampled ?? {};
    for (const prompt of prompts) {
      grow(student, prompt, responseTokens);
      grow(teacher, prompt, responseTokens);
    }
    if (withEvidence) grow(teacher, evidenceTokens, responseTokens);
  };
  for (const { request } of options.watched ?? [])
    grow(student, request.promptIds.length, request.responseIds.length);
  for (const environment of options.played ?? []) {
    work.episodes += 1;
    growTo(environment, [environmentRules(environment).limits.promptTokens]);
  }
  for await (const episode of episodes) {
    signal?.throwIfAborted();
    work.episodes += 1;
    if (sampled !== undefined) {
      const prompts = episode.decisions.map((decision, t) => {
        const place = { episode: episode.episode, decision: t };
        return codec.prompt(decision, episode.environment, place).ids.length;
      });
      growTo(episode.environment, prompts);
      continue;
    }
    const rows = batchRows([episode], codec);
    work.decisions += rows.length;
    for (const { promptIds, responseIds } of rows) {
      growAll(student, promptIds.length, responseIds.length);
      work.studentTokens += epochs * (promptIds.length + responseIds.length);
      work.responseTokens += epochs * responseIds.length;
    }
    for (const { evidence, epochs: times } of stages) {
      const context = await contexts(episode, evidence);
      for (const { decision, promptIds, responseIds } of rows) {
        const read = context(decision, promptIds, responseIds.length).promptIds.length;
        growAll(teacher, read, responseIds.length);
        work.teacherTokens += times * (read + responseIds.length);
      }
    }
  }
  const unknown = { teacherTokens: null, studentTokens: null, responseTokens: null };
  return { teacher, student, work: sampled === undefined ? work : { ...work, ...unknown } };
}
