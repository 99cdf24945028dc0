/**
 * One decision as the teacher reads it: without evidence, with it, and with a part of it left out. Retrieval, evidence
 * and ids are computed once, each when it is first asked for.
 */
import { InputError } from "../../../core/errors.ts";
import {
  type EvidenceInput,
  type EvidencePart,
  evidenceEvents,
  evidenceRecords,
  NO_EVIDENCE,
  renderEvidence,
  type WhatIf,
  whatIfInput,
  withoutPart,
} from "../../../core/evidence/index.ts";
import { recordedIds, type TeacherPrompt, teacherPrompt } from "../../../core/loop/teacher-prompt.ts";
import type { Episode } from "../../../core/record/schema.ts";
import { type PreparedTask, type Retrieval, retrieve } from "../../../core/retrieval/index.ts";
import { type ResponseOptions, type Tokenizer, textCodec } from "../../../text/index.ts";
import { describeFault } from "../../base/faults.ts";
import type { DecisionModel, LeftOutContext, ScorePair } from "../model.ts";

/** How a model reads an episode. */
export interface Reading extends ResponseOptions {
  tokenizer: Tokenizer | null;
  /** With the ids and texts that it reads. */
  episode: Episode;
  /** What to know about the ids, in one line; null where there is nothing. */
  note: string | null;
}

function readDecision({ tokenizer, episode, note, ...options }: Reading, decision: number) {
  if (tokenizer === null) throw new InputError("no tokenizer is open");
  const codec = textCodec(tokenizer, options);
  return { ...recordedIds(episode, decision, codec), tokenizer, codec, note };
}

/** Every method but `counted` throws `InputError` where a part is missing, or does not fit. */
export class TeacherContext {
  readonly retrieval: Retrieval;
  /** Null where nothing is left of the evidence. */
  readonly #input: EvidenceInput | null;
  #read: ReturnType<typeof readDecision> | undefined;
  #graph: TeacherPrompt | undefined;

  /** @throws InputError when the episode has no such decision, or a what-if asks for what is not there */
  constructor(
    prepared: PreparedTask,
    readonly episode: Episode,
    private readonly decision: number,
    whatIf: WhatIf,
    private readonly reading: () => Reading,
  ) {
    this.retrieval = retrieve(prepared, episode, decision, whatIf);
    this.#input = whatIfInput(prepared, episode, this.retrieval.record, whatIf);
  }

  /** With all of the evidence; the vanilla context where there is none. */
  graph(): TeacherPrompt {
    this.#graph ??= this.#insert(this.#input);
    return this.#graph;
  }

  /** The evidence with its tokens, or in full with the reason why there are none. */
  counted(): Pick<DecisionModel, "evidence" | "counts" | "countsProblem" | "countsNote"> {
    try {
      const { prompt, responseIds, note } = this.#ids();
      const { evidence, promptIds, insertIds } = this.graph();
      const counts = {
        vanilla: prompt.ids.length,
        cut: prompt.cut,
        graph: promptIds.length,
        evidence: insertIds.length,
        response: responseIds.length,
      };
      return { evidence, counts, countsProblem: null, countsNote: note };
    } catch (error) {
      const evidence = this.#input === null ? NO_EVIDENCE : renderEvidence(this.#input);
      return { evidence, counts: null, countsProblem: describeFault(error), countsNote: null };
    }
  }

  /** Both contexts and the response that both score. */
  pair(): Omit<ScorePair, "studentProblem"> {
    const { tokenizer, prompt, responseIds } = this.#ids();
    const pieces = tokenizer.pieces(responseIds).map((piece) => piece.text);
    return { vanillaIds: prompt.ids, graphIds: this.graph().promptIds, responseIds, pieces };
  }

  /** A context for each record that is left out, or, of one record, for each of its events. */
  leftOut(record: EvidencePart["record"] | null): LeftOutContext[] {
    const input = this.#input;
    if (input === null) return [];
    const parts = record === null ? evidenceRecords(input) : evidenceEvents(input, record);
    return parts.map((part) => {
      const rest = withoutPart(input, part);
      const { evidence, promptIds, insertIds } = this.#insert(rest);
      const { backReferences } = evidence;
      return { part, promptIds, evidenceTokens: insertIds.length, backReferences, vanilla: rest === null };
    });
  }

  #ids(): ReturnType<typeof readDecision> {
    this.#read ??= readDecision(this.reading(), this.decision);
    return this.#read;
  }

  #insert(input: EvidenceInput | null): TeacherPrompt {
    const { prompt, responseIds, codec } = this.#ids();
    return teacherPrompt(input, prompt.ids, responseIds.length, codec);
  }
}
