/** The teacher's contexts of one decision: without evidence, with it, and with a part of it left out. */
import { environmentRules } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import {
  type EvidenceInput,
  type EvidencePart,
  evidenceEvents,
  evidenceInsert,
  evidenceRecords,
  type FittedEvidence,
  fitEvidence,
  insertEvidence,
  type WhatIf,
  whatIfInput,
  withoutPart,
} from "../../core/evidence/index.ts";
import type { Episode } from "../../core/record/schema.ts";
import { type PreparedTask, retrieve } from "../../core/retrieval/index.ts";
import { decisionPromptIds, decisionResponseIds, type Tokenizer } from "../../text/index.ts";
import type { LeftOutContext, ScorePair } from "../model.ts";

interface Inserted {
  evidence: FittedEvidence;
  /** h_t with R_t. */
  promptIds: number[];
  /** Tokens of R_t. */
  evidenceTokens: number;
}

/** Everything of one decision that its contexts are made of. Throws `InputError` where a part is missing. */
export class TeacherContext {
  readonly vanillaIds: number[];
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
  ) {
    if (tokenizer === null) throw new InputError("no tokenizer is open");
    if (tokenizer.endOfTurnId === null) {
      throw new InputError("has no <|im_end|> and no eos_token to end a turn with", { file: tokenizer.file });
    }
    this.#tokenizer = tokenizer;
    this.#endOfTurnId = tokenizer.endOfTurnId;
    const place = { episode: episode.episode, decision };
    const recorded = episode.decisions[decision]!;
    this.vanillaIds = decisionPromptIds(recorded, tokenizer, place);
    this.responseIds = decisionResponseIds(recorded, tokenizer, place);
    const retrieval = retrieve(prepared, episode, decision, whatIf).record;
    this.#input = whatIfInput(prepared, episode, retrieval, whatIf);
  }

  /** With all of the evidence; the vanilla context where there is none. */
  graph(): Inserted {
    if (this.#input === null) {
      const evidence = { text: "", spans: [], backReferences: false, tokens: this.vanillaIds.length };
      return { evidence, promptIds: this.vanillaIds, evidenceTokens: 0 };
    }
    return this.#insert(this.#input);
  }

  /** Both contexts and the response that both score. */
  pair(): ScorePair {
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

  #insert(input: EvidenceInput): Inserted {
    let ids: number[] = [];
    const evidence = fitEvidence({
      ...input,
      limit: environmentRules(input.episode.environment).limits.evidenceTokens,
      countTokens: (text) => {
        ids = this.#tokenizer.encode(evidenceInsert(text), { special: false });
        return this.vanillaIds.length + ids.length;
      },
    });
    const promptIds = insertEvidence(this.vanillaIds, ids, this.#endOfTurnId);
    return { evidence, promptIds, evidenceTokens: ids.length };
  }
}
