/** The teacher's contexts of one decision: without evidence, with it, and with a part of it left out. */
import { InputError } from "../../../core/errors.ts";
import {
  type ConditionedPrompt,
  conditionedPrompt,
  type EvidenceInput,
  type EvidencePart,
  evidenceEvents,
  evidenceRecords,
  type WhatIf,
  whatIfInput,
  withoutPart,
} from "../../../core/evidence/index.ts";
import type { Episode } from "../../../core/record/schema.ts";
import { type PreparedTask, retrieve } from "../../../core/retrieval/index.ts";
import {
  decisionPrompt,
  decisionResponseIds,
  type ResponseOptions,
  requireEndOfTurn,
  type Tokenizer,
} from "../../../text/index.ts";
import type { LeftOutContext, ScorePair } from "../model.ts";

/** Everything of one decision that its contexts are made of. Throws `InputError` where a part is missing. */
export class TeacherContext {
  readonly vanillaIds: number[];
  /** Tokens that were left out at the beginning of the prompt. */
  readonly cut: number;
  readonly responseIds: number[];
  /** Null where nothing is left of the evidence. */
  readonly #input: EvidenceInput | null;
  readonly #tokenizer: Tokenizer;
  readonly #endOfTurnId: number;

  constructor(
    tokenizer: Tokenizer | null,
    prepared: PreparedTask,
    episode: Episode,
    decision: number,
    whatIf: WhatIf,
    options: ResponseOptions = {},
  ) {
    if (tokenizer === null) throw new InputError("no tokenizer is open");
    this.#tokenizer = tokenizer;
    this.#endOfTurnId = requireEndOfTurn(tokenizer);
    const place = { episode: episode.episode, decision };
    const recorded = episode.decisions[decision]!;
    const { ids, cut } = decisionPrompt(recorded, tokenizer, episode.environment, place);
    this.vanillaIds = ids;
    this.cut = cut;
    this.responseIds = decisionResponseIds(recorded, tokenizer, episode.environment, place, options);
    const retrieval = retrieve(prepared, episode, decision, whatIf).record;
    this.#input = whatIfInput(prepared, episode, retrieval, whatIf);
  }

  /** With all of the evidence; the vanilla context where there is none. */
  graph(): ConditionedPrompt {
    if (this.#input === null) {
      const evidence = { text: "", spans: [], backReferences: false, tokens: this.vanillaIds.length };
      return { evidence, promptIds: this.vanillaIds, evidenceTokens: 0 };
    }
    return this.#insert(this.#input);
  }

  /** Both contexts and the response that both score. */
  pair(): Omit<ScorePair, "studentProblem"> {
    const { vanillaIds, responseIds } = this;
    const pieces = this.#tokenizer.pieces(responseIds).map((piece) => piece.text);
    return { vanillaIds, graphIds: this.graph().promptIds, responseIds, pieces };
  }

  /** A context for each record that is left out, or, of one record, for each of its events. */
  leftOut(record: EvidencePart["record"] | null): LeftOutContext[] {
    const input = this.#input;
    if (input === null) return [];
    const parts = record === null ? evidenceRecords(input) : evidenceEvents(input, record);
    return parts.map((part) => {
      const rest = withoutPart(input, part);
      if (rest === null) {
        return {
          part,
          promptIds: this.vanillaIds,
          evidenceTokens: 0,
          backReferences: false,
          vanilla: true,
        };
      }
      const { evidence, promptIds, evidenceTokens } = this.#insert(rest);
      return { part, promptIds, evidenceTokens, backReferences: evidence.backReferences, vanilla: false };
    });
  }

  #insert(input: EvidenceInput): ConditionedPrompt {
    return conditionedPrompt(input, {
      promptIds: this.vanillaIds,
      responseTokens: this.responseIds.length,
      encode: (text) => this.#tokenizer.encode(text, { special: false }),
      endOfTurnId: this.#endOfTurnId,
    });
  }
}
