/**
 * Decisions that were read from the library worker, and those beside the present one, made ready while it is looked
 * at: a step to one of these waits for nothing. What was read with another tokenizer is
 * forgotten, and an answer that arrives after that is given to who asked for it but not kept.
 */
import { Lru } from "../../core/lru.ts";
import type { Selection } from "../../core/retrieval/selection.ts";
import type { DecisionModel, TaskRef } from "./model.ts";
import { scoreKey as keyOf } from "./score-key.ts";

/** What names a decision and the evidence that is asked for. */
export interface DecisionRequest extends TaskRef {
  episode: string;
  decision: number;
  selection: Selection;
  /** The end-of-turn token is appended to a response that was recorded as text. */
  endOfTurn: boolean;
}

/** Decisions that are kept: the present one, some of those just seen, and those made ready. */
const KEPT = 12;

export type ReadDecision = (request: DecisionRequest) => Promise<DecisionModel>;

export class Decisions {
  readonly #read: ReadDecision;
  #ready = new Lru<DecisionModel>(KEPT);
  #reading = new Map<string, Promise<DecisionModel>>();
  #wanted: DecisionRequest[] = [];
  #preparing = false;

  constructor(read: ReadDecision) {
    this.#read = read;
  }

  /** The decision if it is here, else null. */
  ready(request: DecisionRequest): DecisionModel | null {
    return this.#ready.get(keyOf(request)) ?? null;
  }

  /** The decision, read if it is not here. Rejects as reading does; the next call reads again. */
  async get(request: DecisionRequest): Promise<DecisionModel> {
    const ready = this.ready(request);
    if (ready !== null) return ready;
    const key = keyOf(request);
    const [kept, under] = [this.#ready, this.#reading];
    let reading = under.get(key);
    if (reading === undefined) {
      reading = this.#read(request);
      under.set(key, reading);
      const done = (): unknown => under.delete(key);
      reading.then((model) => {
        done();
        kept.set(key, model);
      }, done);
    }
    return reading;
  }

  /** Makes these ready, one after the other, instead of what was asked for before. Never rejects: its reader gets the fault. */
  async prepare(requests: readonly DecisionRequest[]): Promise<void> {
    this.#wanted = [...requests];
    if (this.#preparing) return;
    this.#preparing = true;
    for (let next = this.#wanted.shift(); next !== undefined; next = this.#wanted.shift()) {
      await this.get(next).catch(() => undefined);
    }
    this.#preparing = false;
  }

  /** Drops everything: another tokenizer counts from here on. */
  forget(): void {
    this.#ready = new Lru(KEPT);
    this.#reading = new Map();
    this.#wanted = [];
  }
}
