/**
 * How an environment's episodes are played for each purpose: what the prompt repeats, how a response is drawn, and what
 * becomes of a malformed or rejected one (Appendices "Agent inputs and evaluation" and "Execution sources").
 */

/** Why an episode is played: as a source of the library, for a training batch, or to measure a student. */
export const PURPOSES = ["collect", "train", "evaluate"] as const;
export type Purpose = (typeof PURPOSES)[number];

/** Where a response stands: what its seed may depend on. */
export interface DrawPosition {
  task: string;
  /** Number of the episode among those of its task. */
  repetition: number;
  /** From 0. */
  decision: number;
  /** Responses drawn for this decision before. */
  attempt: number;
  /** Updates that the student has had. */
  policyVersion: number;
  /** Seed of the run. */
  seed: number;
}

/** What becomes of a reply that executes nothing. */
export interface ReplyPolicy {
  /** A malformed reply is a decision, or another one is drawn in the same place. */
  malformed: "spend" | "resample";
  /**
   * A rejected action is a decision; or it is thrown away with its branch, the accepted decisions are replayed after a
   * reset, and another reply is drawn.
   */
  rejected: "spend" | "restore";
  /** Replies drawn for one decision, malformed and rejected ones together, where another one may be drawn. */
  attempts: number;
  /** An episode that used them up: a whole record that failed, or an incomplete one. */
  exhausted: "failed" | "incomplete";
}

/** Every reply is a decision. */
export const SPEND_ALL: ReplyPolicy = {
  malformed: "spend",
  rejected: "spend",
  attempts: 1,
  exhausted: "failed",
};

/** How a response is drawn. */
export interface Sampling {
  temperature: number;
  /** 1: no bound. */
  topP: number;
  /** Null: no bound. */
  topK: number | null;
}

export interface Protocol {
  /** Observation–action pairs that the message repeats, and the decision (from 0) from which it does. */
  history: { pairs: number; from: number };
  /**
   * The model reads the message alone; or, as a chat, after those of all accepted decisions, each answered by its action
   * without a thought.
   */
  form: "message" | "chat";
  sampling: Sampling;
  replies: ReplyPolicy;
  /** Text whose SHA-256 gives the seed of a response (`seedOf`). */
  seedText(place: DrawPosition): string;
}

/** T = 0.4 without further bounds: evaluation, and collection in most environments. */
export const EVALUATION_SAMPLING: Sampling = { temperature: 0.4, topP: 1, topK: null };

/** Training and evaluation, the same in all environments but for the pairs. Collection differs. */
export function playProtocols(pairs: number): Record<"train" | "evaluate", Protocol> {
  const common = { history: { pairs, from: 1 }, form: "message", replies: SPEND_ALL } as const;
  return {
    train: {
      ...common,
      sampling: { temperature: 1, topP: 1, topK: null },
      seedText: ({ task, repetition, decision, policyVersion, seed }) =>
        `${task}|${repetition}|${decision}|${policyVersion}|${seed}`,
    },
    evaluate: {
      ...common,
      sampling: EVALUATION_SAMPLING,
      seedText: ({ task, repetition, decision }) => `${task}|${repetition}|${decision}|0`,
    },
  };
}
