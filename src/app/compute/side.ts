/**
 * A side: one column of the tokens view. Everything that can stand beside the vanilla teacher is one: the teacher under
 * any evidence, the student, another model, log-probabilities that came with the record.
 */
import type { EngineInfo } from "../../core/ports.ts";
import type { FolderFiles } from "../data/files/blob-folder.ts";
import type { RecordedTokens } from "../data/model.ts";

export interface Side {
  /** Names it in the URL and in files: `vanilla`, `graph`, `student`, `with:success-only`, `model:qwen3-b:graph`. */
  key: string;
  /** "teacher, without evidence" */
  label: string;
  /** Response ids that the figures are of: a difference between two sides is one only where these are equal. */
  ids: readonly number[] | null;
  /** [ids] natural log. */
  logprobs: ArrayLike<number>;
  /** What the model read before the response; null where it was not read here. */
  promptIds: readonly number[] | null;
  /** Which of the open models computed it; null where none did. */
  model: SideModel | null;
  /** The further model's files, where it is one: to compute with it again. */
  folder?: FolderFiles;
  provenance: SideProvenance;
  /** What else is known of each token's distribution; null until it is asked for. */
  distribution: Distribution | null;
}

/** `other`: a further model, opened for its passes alone. */
export type SideModel = "teacher" | "student" | "other";

/** Where the figures are from. */
export interface SideProvenance {
  /** Null for what was recorded elsewhere. */
  engine: EngineInfo | null;
  /** The file, where the figures were recorded. */
  file: string | null;
  /** SHA-256 of tokenizer.json, in hexadecimal; null where it is not known. */
  tokenizer: string | null;
  /** SHA-256 of the chat template; null where there is none or it is not known. */
  template: string | null;
  /** How long its pass took; null where it was not computed here. */
  seconds: number | null;
  /** The student's, where it is its side. */
  weights?: StudentWeights;
}

/** Which weights the student had: those of a run after so many optimizer steps, or as they were opened. */
export interface StudentWeights {
  origin: string;
  steps: number;
  /** Null for no run of this page. */
  run: string | null;
}

/** What is known of the distributions that the response's tokens were drawn from. */
export interface Distribution {
  /** [response tokens] in nats. */
  entropy: Float32Array;
  /** How many of the most probable tokens are known in each place. */
  top: number;
  /** [response tokens · top], the most probable first. */
  topIds: Uint32Array;
  topLogprobs: Float32Array;
  /** Texts of all ids in `topIds`. */
  texts: ReadonlyMap<number, string>;
  /** Further tokens' log-probabilities, by `tokenKey`: those that another side has among its first. */
  further?: ReadonlyMap<string, number>;
  /** What the probability of any other token can be computed from. */
  rows?: Rows;
}

/** The `hidden` that a pass returned; null once it has given way to that of other passes. */
export interface Rows {
  hidden: Float32Array | null;
}

interface Sides {
  sides: readonly Side[];
}

/** The side with that key; undefined where it was not scored. */
export const sideOf = ({ sides }: Sides, key: string): Side | undefined =>
  sides.find((side) => side.key === key);

/** The teacher without evidence, in the scores of a response. */
export const withoutEvidence = (scores: Sides): Side => sideOf(scores, "vanilla")!;

/** The teacher with the evidence that was asked for. */
export const withEvidence = (scores: Sides): Side => sideOf(scores, "graph")!;

/** What the teacher was computed on. */
export const teacherOf = (scores: Sides): EngineInfo => withEvidence(scores).provenance.engine!;

/** [response tokens] Δ in nats: log p with the evidence − log p without it. */
export function evidenceDeltas(scores: Sides): number[] {
  const { logprobs } = withoutEvidence(scores);
  return Array.from(withEvidence(scores).logprobs, (value, i) => value - logprobs[i]!);
}

/** Names a token in a place of the response. */
export const tokenKey = (position: number, id: number): string => `${position} ${id}`;

/** What came with the record, as sides of a response of `ids`: those whose figures are as many. */
export function recordedSides(recorded: RecordedTokens | null, ids: readonly number[]): Side[] {
  if (recorded === null) return [];
  const side = (key: string, label: string, logprobs: number[] | null, file: string | null): Side[] =>
    logprobs?.length !== ids.length
      ? []
      : [
          {
            key,
            label,
            ids: recorded.ids,
            logprobs,
            promptIds: null,
            model: null,
            provenance: { engine: null, file, tokenizer: null, template: null, seconds: null },
            distribution: null,
          },
        ];
  return [
    ...side("recorded-teacher", "teacher, recorded", recorded.teacher, recorded.teacherSource),
    ...side("recorded-student", "student, recorded", recorded.student, null),
  ];
}

/** The token's place in its distribution, from 1; null when it is beyond the known ones. */
export function rankOf({ top, topIds }: Distribution, position: number, id: number): number | null {
  const at = topIds.subarray(position * top, (position + 1) * top).indexOf(id);
  return at < 0 ? null : at + 1;
}

/** True where the most probable token is another one on the other side. */
export function argmaxFlips(a: Distribution, b: Distribution, position: number): boolean {
  return a.topIds[position * a.top] !== b.topIds[position * b.top];
}

/** [ids] log p of `side` − log p of `base`, or why there is none. */
export function difference(
  base: Side,
  side: Side,
): { deltas: Float32Array; refused: null } | { deltas: null; refused: string } {
  const refused = whyRefused(base, side);
  if (refused !== null) return { deltas: null, refused };
  return {
    deltas: Float32Array.from(side.logprobs, (value, i) => value - base.logprobs[i]!),
    refused: null,
  };
}

function whyRefused(base: Side, side: Side): string | null {
  for (const { ids, label } of [base, side])
    if (ids === null)
      return `the record of “${label}” holds no response_ids, so that nothing says its tokens are the same ones`;
  const [a, b] = [base.ids!, side.ids!];
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a[at] === b[at]) at += 1;
  if (at === a.length && at === b.length) return null;
  const where =
    a.length === b.length || at < length
      ? `from token ${at} on (${a[at] ?? "none"} and ${b[at] ?? "none"})`
      : `in number (${a.length} and ${b.length})`;
  return (
    `their token ids differ ${where}: “${base.label}” has tokenizer ${shortHash(base.provenance.tokenizer)}, ` +
    `“${side.label}” has ${shortHash(side.provenance.tokenizer)}`
  );
}

/** The first twelve digits, enough to tell files apart. */
export function shortHash(hash: string | null): string {
  return hash === null ? "of unknown hash" : `sha256:${hash.slice(0, 12)}`;
}
