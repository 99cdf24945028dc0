/** An environment that the games worker plays, for whoever is connected with it: the page or another worker. */
import type { Environment, EnvironmentAnswer, EnvironmentStart, NoAnswer } from "../../../../core/ports.ts";
import type { SessionOwner } from "./games-service.ts";

/** The part of the games worker that it needs. */
export interface GameSessions {
  openSession(environment: string, owner: SessionOwner): Promise<number>;
  reset(session: number, task: string): Promise<EnvironmentStart>;
  step(session: number, action: string): Promise<EnvironmentAnswer | NoAnswer>;
  closeSession(session: number): Promise<void>;
}

export class RemoteEnvironment implements Environment {
  #session: Promise<number> | null = null;

  /** @param name as records write it */
  constructor(
    private readonly games: GameSessions,
    private readonly name: string,
    private readonly owner: SessionOwner = "page",
  ) {}

  async reset(task: string): Promise<EnvironmentStart> {
    this.#session ??= this.games.openSession(this.name, this.owner);
    return this.games.reset(await this.#session, task);
  }

  async step(action: string): Promise<EnvironmentAnswer | NoAnswer> {
    if (this.#session === null) throw new Error("step before reset");
    return this.games.step(await this.#session, action);
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    if (session !== null) await this.games.closeSession(await session);
  }
}
