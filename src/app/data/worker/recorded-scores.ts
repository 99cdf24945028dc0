/** Log-probabilities that a teacher gave when the episodes were recorded: lists by `<episode>:<decision>`. */
import { InputError } from "../../../core/errors.ts";
import type { ScoreOutput } from "../../../core/record/schema.ts";
import { BlobSpool } from "../files/internal/blob-spool.ts";

interface Extent {
  start: number;
  end: number;
  /** The file that they came from, as it is called in messages. */
  source: string;
}

export class RecordedScores {
  readonly #places = new Map<string, Extent>();
  readonly #spool = new BlobSpool();
  #blob: Blob | null = null;

  get count(): number {
    return this.#places.size;
  }

  /** `InputError` for a list that already exists. */
  add({ id, logprobs }: ScoreOutput, source: string): void {
    const before = this.#places.get(id);
    if (before !== undefined) {
      throw new InputError(`scores of ${JSON.stringify(id)} came already from ${before.source}`, {
        file: source,
      });
    }
    const bytes = new Uint8Array(Float64Array.from(logprobs).buffer);
    const start = this.#spool.size;
    this.#spool.add(bytes);
    this.#places.set(id, { start, end: start + bytes.length, source });
    this.#blob = null;
  }

  /** How many name no decision of these episodes. */
  strangers(decisions: ReadonlyMap<string, number>): number {
    let strangers = 0;
    for (const id of this.#places.keys()) {
      const colon = id.lastIndexOf(":");
      const t = Number(id.slice(colon + 1));
      if (!(colon > 0 && t < (decisions.get(id.slice(0, colon)) ?? 0))) strangers++;
    }
    return strangers;
  }

  /** [response tokens] natural logarithms of one decision, and where they came from; null where there are none. */
  async get(episode: string, decision: number): Promise<{ logprobs: number[]; source: string } | null> {
    const place = this.#places.get(`${episode}:${decision}`);
    if (place === undefined) return null;
    this.#blob ??= this.#spool.blob();
    const bytes = await this.#blob.slice(place.start, place.end).arrayBuffer();
    return { logprobs: [...new Float64Array(bytes)], source: place.source };
  }
}
