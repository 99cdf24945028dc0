import type { SampleRequest, SampleResult, Sampler, WorkOptions } from "../../core/ports.ts";
import { drawnAgain, type MaskedRequest } from "./drawable.ts";
import { exchange } from "./exchange.ts";
import { inParallel } from "./in-parallel.ts";
import type { Protocol } from "./protocol.ts";
import type { Server } from "./server.ts";

/** Requests that are under way at the same time. */
const AT_ONCE = 64;

/** Draws responses from a model that another program serves, many at the same time. */
export class RemoteSampler implements Sampler {
  readonly #server: Server;
  readonly #protocol: Protocol;
  readonly #atOnce: number;
  readonly #onNote: (note: string) => void;
  readonly #told = new Set<string>();

  constructor(
    server: Server,
    protocol: Protocol,
    { atOnce = AT_ONCE, onNote = () => undefined }: { atOnce?: number; onNote?: (note: string) => void } = {},
  ) {
    this.#server = server;
    this.#protocol = protocol;
    this.#atOnce = atOnce;
    this.#onNote = onNote;
  }

  /** @throws InputError when a request is refused, not answered, or its answer is not a response; the others are given up */
  sample(requests: readonly SampleRequest[], options: WorkOptions = {}): Promise<SampleResult[]> {
    const bounds = {
      atOnce: this.#atOnce,
      // How long a response gets is not known: the server decides how many it draws together.
      tokensAtOnce: Number.POSITIVE_INFINITY,
      tokensOf: () => 0,
      unit: "responses",
    };
    return inParallel(requests, (request, signal) => this.#one(request, signal), bounds, options);
  }

  #one(request: SampleRequest, signal: AbortSignal): Promise<SampleResult> {
    const protocol = this.#protocol;
    this.#note(protocol.shortcoming?.(request));
    const read = (answer: unknown, asked: MaskedRequest) => {
      const result = protocol.read(answer, asked);
      this.#note(protocol.remark?.(answer, asked));
      return result;
    };
    return drawnAgain(request, this.#server.base, (asked) =>
      exchange(this.#server, { ...protocol, read }, asked, signal),
    );
  }

  /** Each note once. */
  #note(note: string | null = null): void {
    if (note === null || this.#told.has(note)) return;
    this.#told.add(note);
    this.#onNote(`${this.#server.base}: ${note}`);
  }
}
