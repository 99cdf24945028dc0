/** A client of the released WebShop server, over `fetch`. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import {
  closeAnswer,
  type GoalAnswer,
  goalAnswer,
  type HealthAnswer,
  healthAnswer,
  type ReplayAnswer,
  type ResetAnswer,
  replayAnswer,
  resetAnswer,
  type StepAnswer,
  stepAnswer,
} from "./contract.ts";

/** How a server must have been started for its figures to be comparable. */
export type ShopSettings = Pick<HealthAnswer, "observation_mode" | "seed" | "goal_shuffle_seed">;

/** The paper's server. */
export const RELEASED_SETTINGS: ShopSettings = {
  observation_mode: "text_rich",
  seed: 42,
  goal_shuffle_seed: 233,
};

export interface ShopClientOptions {
  /** Sent as a bearer token; the worker asks for one. */
  token?: string;
  /** The server's settings, or "any"; the paper's if left out. */
  expect?: ShopSettings | "any";
  /** Longest wait for one answer, in milliseconds; a minute if left out. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

const refusal = z.looseObject({ error: z.string() });

/** The server answered, with an `error` in place of what was asked for: another try would not do. */
export class RefusedError extends InputError {}

/** A gateway's statuses: it may well be there later, whatever the answer says. */
const GATEWAY = new Set([502, 503, 504]);

/** Speaks to one server. Every failure is an `InputError` that names the address and what was asked for. */
export class ShopClient {
  readonly #base: string;
  readonly #options: ShopClientOptions;

  private constructor(base: string, options: ShopClientOptions) {
    this.#base = base;
    this.#options = options;
  }

  /**
   * Connects to a server, for example `http://127.0.0.1:8300`.
   *
   * @throws InputError for an address with a user or a password, and when the server does not answer, or was started with
   * other settings than expected
   */
  static async connect(url: string, options: ShopClientOptions = {}): Promise<ShopClient> {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new InputError(`expected http://HOST:PORT of a WebShop server, received ${JSON.stringify(url)}`);
    const { username, password } = new URL(url);
    if (username !== "" || password !== "")
      throw new InputError(
        "the address of the WebShop server has a user or a password; expected one without",
      );
    const client = new ShopClient(url.replace(/\/+$/, ""), options);
    const health = await client.health();
    const { expect = RELEASED_SETTINGS } = options;
    if (expect !== "any")
      for (const key of ["observation_mode", "seed", "goal_shuffle_seed"] as const)
        if (health[key] !== expect[key])
          throw new InputError(
            `the server runs with ${JSON.stringify(health[key])}; expected ${JSON.stringify(expect[key])}`,
            { file: client.#base, key },
          );
    return client;
  }

  health(): Promise<HealthAnswer> {
    return this.#ask("GET", "/health", healthAnswer);
  }

  goal(index: number): Promise<GoalAnswer> {
    return this.#ask("GET", `/goal?idx=${index}`, goalAnswer);
  }

  reset(episode: string, goal: number): Promise<ResetAnswer> {
    return this.#ask("POST", "/reset", resetAnswer, { episode, goal });
  }

  step(episode: string, action: string): Promise<StepAnswer> {
    return this.#ask("POST", "/step", stepAnswer, { episode, action });
  }

  replay(goal: number, actions: readonly string[]): Promise<ReplayAnswer> {
    return this.#ask("POST", "/replay", replayAnswer, { goal, actions });
  }

  async close(episode: string): Promise<void> {
    await this.#ask("POST", "/close", closeAnswer, { episode });
  }

  async #ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const { token, timeoutMs = 60_000, signal } = this.#options;
    const where = { file: `${this.#base}${path}` };
    const limit = AbortSignal.timeout(timeoutMs);
    let status: number;
    let text: string;
    try {
      const answer = await fetch(where.file, {
        method,
        headers: {
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // The token is for this server alone.
        redirect: "error",
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      status = answer.status;
      text = await answer.text();
    } catch (error) {
      if (signal?.aborted) throw error;
      if (limit.aborted) throw new InputError(`no answer within ${timeoutMs / 1000} s`, where);
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new InputError(`no answer: ${cause instanceof Error ? cause.message : String(cause)}`, where);
    }
    let raw: unknown;
    try {
      raw = JSON.parse(text);
    } catch {
      throw new InputError(`expected JSON, received status ${status}: ${text.slice(0, 200)}`, where);
    }
    const refused = refusal.safeParse(raw);
    if (refused.success) {
      const line = `refused with status ${status}: ${lastLine(refused.data.error)}`;
      throw GATEWAY.has(status) ? new InputError(line, where) : new RefusedError(line, where);
    }
    return checkedBy(schema, raw, where);
  }
}

/** The released server answers with a whole Python traceback; its last line says what is wrong. */
const lastLine = (error: string): string => error.trimEnd().split("\n").at(-1) ?? "";
