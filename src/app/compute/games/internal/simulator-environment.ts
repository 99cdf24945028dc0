/** An environment that the worker's simulator plays: one session of it, which this page keeps. */
import { EnvironmentError, InputError } from "../../../../core/errors.ts";
import type { Environment, EnvironmentAnswer, EnvironmentStart, NoAnswer } from "../../../../core/ports.ts";
import { LEASE_MS } from "../../../../simulator/session-contract.ts";

/** What the worker is asked. Every failure is an `InputError`; an `EnvironmentError` where another try may do. */
export interface SimulatorSessions {
  reset(session: string, task: string): Promise<EnvironmentStart>;
  step(session: string, action: string): Promise<EnvironmentAnswer | NoAnswer>;
  renew(session: string): Promise<void>;
  close(session: string): Promise<void>;
  plan(task: string): Promise<readonly string[]>;
  /** Sessions that can still be opened. */
  free(): Promise<number>;
}

/** How long a run that nobody watches waits for a worker that is away, and how often it asks, in milliseconds. */
const PATIENCE_MS = 5 * 60_000;
const AGAIN_MS = 1500;

export class SimulatorEnvironment implements Environment {
  readonly #session = crypto.randomUUID();
  readonly #sessions: SimulatorSessions;
  readonly #isPatient: boolean;
  /** When the patience with a worker that is away ends, by the clock of `performance`; null while it is there. */
  #patientUntil: number | null = null;
  /** The last request to begin a task; null where there is no session to close. */
  #begun: Promise<EnvironmentStart> | null = null;
  #renewing: ReturnType<typeof setInterval> | undefined;

  /** @param isPatient whether a task that cannot begin waits until the worker is there, before it fails */
  constructor(sessions: SimulatorSessions, { isPatient = false } = {}) {
    this.#sessions = sessions;
    this.#isPatient = isPatient;
  }

  async reset(task: string): Promise<EnvironmentStart> {
    const beginning = this.#sessions.reset(this.#session, task);
    this.#begun = beginning;
    let start: EnvironmentStart;
    try {
      start = await beginning;
    } catch (error) {
      // Each task of a run is tried a few times: without a pause, a connection that drops for a minute uses all of them up.
      if (this.#isPatient && error instanceof EnvironmentError) await this.#untilThere(beginning);
      throw error;
    }
    this.#patientUntil = null;
    // Closed meanwhile: `close` ends it, once this is answered.
    if (this.#begun === null) return start;
    // A person may think for long. Where it cannot be renewed, the next action says why.
    const renew = () => void this.#sessions.renew(this.#session).catch(() => undefined);
    this.#renewing ??= setInterval(renew, LEASE_MS / 4);
    return start;
  }

  /** Waits until the worker answers, some minutes at most, or what was begun is closed. */
  async #untilThere(begun: Promise<EnvironmentStart>): Promise<void> {
    this.#patientUntil ??= performance.now() + PATIENCE_MS;
    while (performance.now() < this.#patientUntil && this.#begun === begun) {
      try {
        await this.#sessions.free();
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  /** A worker that does not answer ends the episode for a technical reason. */
  async step(action: string): Promise<EnvironmentAnswer | NoAnswer> {
    try {
      return await this.#sessions.step(this.#session, action);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { unanswered: error.message };
    }
  }

  /** A worker that does not answer ends the session by itself. */
  async close(): Promise<void> {
    const begun = this.#begun;
    if (begun === null) return;
    this.#begun = null;
    clearInterval(this.#renewing);
    this.#renewing = undefined;
    // The request to close could overtake the one to begin.
    await begun.catch(() => undefined);
    await this.#sessions.close(this.#session).catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
    });
  }
}
