import { z } from "zod";
import type { SampleRequest, SampleResult, Sampler, WorkOptions } from "../../core/ports.ts";
import { located } from "./find-server.ts";
import type { Protocol } from "./protocol.ts";
import type { Server } from "./server.ts";

/** Requests that are under way at the same time. */
const AT_ONCE = 64;

const refusal = z.union([
  z.looseObject({ error: z.looseObject({ message: z.string() }) }).transform(({ error }) => error.message),
  z.looseObject({ error: z.string() }).transform(({ error }) => error),
  z.looseObject({ message: z.string() }).transform(({ message }) => message),
  z.looseObject({ detail: z.string() }).transform(({ detail }) => detail),
]);

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

  /** @throws InputError when a request is refused, not answered, or its answer is no response; the others are given up */
  async sample(
    requests: readonly SampleRequest[],
    { signal, onProgress }: WorkOptions = {},
  ): Promise<SampleResult[]> {
    const fault = new AbortController();
    const stop = signal === undefined ? fault.signal : AbortSignal.any([signal, fault.signal]);
    const results: SampleResult[] = [];
    let [next, done] = [0, 0];
    const work = async (): Promise<void> => {
      while (next < requests.length) {
        const n = next;
        next += 1;
        results[n] = await this.#one(requests[n]!, stop);
        done += 1;
        onProgress?.({ done, total: requests.length, unit: "responses" });
      }
    };
    const workers = Array.from({ length: Math.min(this.#atOnce, requests.length) }, async () => {
      try {
        await work();
      } catch (error) {
        fault.abort(error);
        throw error;
      }
    });
    // All end before the first fault is thrown: none is under way afterwards.
    const ended = await Promise.allSettled(workers);
    signal?.throwIfAborted();
    if (ended.some(({ status }) => status === "rejected")) throw fault.signal.reason;
    return results;
  }

  async #one(request: SampleRequest, signal: AbortSignal): Promise<SampleResult> {
    const { path, body, read, shortcoming } = this.#protocol;
    const note = shortcoming?.(request) ?? null;
    if (note !== null && !this.#told.has(note)) {
      this.#told.add(note);
      this.#onNote(`${this.#server.base}: ${note}`);
    }
    const { status, json } = await this.#server.ask(path, body(request), { signal });
    if (status !== 200) {
      const said = refusal.safeParse(json).data;
      throw this.#server.fault(path, `status ${status}${said === undefined ? "" : `: ${said}`}`);
    }
    return located(this.#server, path, () => read(json, request));
  }
}
