/** One inference server over HTTP: tries again where that may help, and says what went wrong in one line. */
import { InputError } from "../../core/errors.ts";

export interface ServerOptions {
  /** Sent as a bearer token, and never shown. */
  key?: string;
  /** What a person does where the server wants a key. */
  keyHint?: string;
  /** Longest wait for one answer, in milliseconds. */
  timeoutMs?: number;
  /** Waits before another try, in milliseconds; as many tries more as there are waits. */
  pausesMs?: readonly number[];
  onNote?: (note: string) => void;
}

/** Below the five minutes after which Node's `fetch` gives up by itself. */
const TIMEOUT_MS = 240_000;
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000];
/** A server may ask for a longer pause, but not for any. */
const LONGEST_PAUSE_MS = 60_000;
/** Too many requests, or not there for a moment. */
const BUSY = new Set([429, 502, 503, 504]);

export interface Answer {
  status: number;
  /** Null for what is no JSON. */
  json: unknown;
}

interface Failure {
  reason: string;
  /** What the server itself asks to wait. */
  pauseMs?: number;
}

export class Server {
  /** Address without `/v1`: shown in messages. */
  readonly base: string;
  readonly #options: ServerOptions;
  /** A note about a failure was given, and nothing was answered since. */
  #troubled = false;

  /** @throws InputError for what is not an address of a server */
  constructor(url: string, options: ServerOptions = {}) {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new InputError(
        `expected http://HOST:PORT of an inference server, received ${JSON.stringify(url)}`,
      );
    const { username, password } = new URL(url);
    if (username !== "" || password !== "")
      throw new InputError(
        `an address with a user or a password; ${options.keyHint ?? "expected one without"}`,
      );
    this.base = url.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#options = options;
  }

  /**
   * Asks until there is an answer that is not "busy", as often as there are pauses.
   *
   * @param tryAgain false asks once
   * @param method GET without a body and POST with one when absent
   * @throws InputError when there is no answer, the tries are used up or the key is refused
   */
  async ask(
    path: string,
    body: object | undefined,
    { signal, tryAgain = true, method }: { signal?: AbortSignal; tryAgain?: boolean; method?: "DELETE" } = {},
  ): Promise<Answer> {
    const answer = await this.#tried(path, body, { signal, tryAgain, method });
    if (answer !== null) return answer;
    throw this.fault(path, `no answer within ${this.#timeoutMs / 1000} s`);
  }

  /**
   * The same for an answer that may take any time. Null when there was none within `waitMs`: it can be asked for again.
   */
  poll(
    path: string,
    body: object,
    waitMs: number,
    { signal, tryAgain = true }: { signal?: AbortSignal; tryAgain?: boolean } = {},
  ): Promise<Answer | null> {
    return this.#tried(path, body, { signal, tryAgain, waitMs });
  }

  /**
   * A file of the server, as its bytes come. It is asked for once.
   *
   * @throws InputError when there is no such file, or its bytes end before their time
   */
  async *download(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
    try {
      const response = await this.#fetch(path, undefined, signal);
      if (!response.ok || response.body === null)
        throw this.fault(path, `status ${response.status}; expected a file`);
      yield* response.body;
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof InputError ? error : this.fault(path, noAnswer(error));
    }
  }

  /** @returns null when there was no answer within the time for one */
  async #tried(
    path: string,
    body: object | undefined,
    {
      signal,
      tryAgain,
      waitMs,
      method,
    }: { signal?: AbortSignal; tryAgain: boolean; waitMs?: number; method?: "DELETE" | undefined },
  ): Promise<Answer | null> {
    const { pausesMs = PAUSES_MS } = this.#options;
    const pauses = tryAgain ? pausesMs : [];
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#once(path, body, waitMs ?? this.#timeoutMs, signal, method);
      if (answer === null || !("reason" in answer)) {
        this.#troubled = false;
        return answer;
      }
      const pause = pauses[tries];
      if (pause === undefined)
        throw this.fault(
          path,
          tries === 0 ? answer.reason : `${answer.reason}; gave up after ${tries + 1} tries`,
        );
      if (!this.#troubled)
        this.#options.onNote?.(`${this.base}: ${answer.reason}; trying again, up to ${pauses.length} times`);
      this.#troubled = true;
      await wait(Math.min(Math.max(pause, answer.pauseMs ?? 0), LONGEST_PAUSE_MS), signal);
    }
  }

  /** The error for an answer that is not what it should be. */
  fault(path: string, message: string, key?: string): InputError {
    return new InputError(message, { file: `${this.base}${path}`, ...(key === undefined ? {} : { key }) });
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? TIMEOUT_MS;
  }

  #fetch(
    path: string,
    body: object | undefined,
    signal: AbortSignal | undefined,
    method?: "DELETE",
  ): Promise<Response> {
    const { key } = this.#options;
    return fetch(`${this.base}${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The key is for this server alone.
      redirect: "error",
      ...(signal !== undefined && { signal }),
    });
  }

  /** @returns null when the time was over first */
  async #once(
    path: string,
    body: object | undefined,
    waitMs: number,
    signal?: AbortSignal,
    method?: "DELETE",
  ): Promise<Answer | Failure | null> {
    const { keyHint = "it wants a key" } = this.#options;
    const limit = AbortSignal.timeout(waitMs);
    let status: number;
    let text: string;
    try {
      const response = await this.#fetch(
        path,
        body,
        signal === undefined ? limit : AbortSignal.any([signal, limit]),
        method,
      );
      status = response.status;
      text = await response.text();
      if (BUSY.has(status)) return { reason: `busy (status ${status})`, ...retryAfter(response) };
    } catch (error) {
      signal?.throwIfAborted();
      if (limit.aborted) return null;
      return { reason: noAnswer(error) };
    }
    if (status === 401 || status === 403)
      throw this.fault(path, `refuses access (status ${status}): ${keyHint}`);
    return { status, json: jsonOf(text) };
  }
}

function noAnswer(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return `no answer: ${cause instanceof Error ? cause.message : String(cause)}`;
}

function retryAfter({ headers }: Response): { pauseMs?: number } {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? { pauseMs: 1000 * seconds } : {};
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Waits, and no longer than until the signal. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopped = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stopped);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stopped, { once: true });
    if (signal?.aborted) stopped();
  });
}
