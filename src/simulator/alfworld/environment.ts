/** ALFWorld's games behind the port of all environments. */
import { splitResetText } from "../../core/environment/alfworld/prompt.ts";
import type { Environment, EnvironmentAnswer, EnvironmentStart, EnvironmentTurn } from "../../core/ports.ts";
import { Episode, type Turn } from "./episode.ts";
import type { Game } from "./game.ts";

export class AlfworldEnvironment implements Environment {
  #task = "";
  #episode: Episode | undefined;

  /**
   * @param gameOf the game of a task; throws `InputError` where there is none
   * @param digest SHA-256 of bytes for keys, in place of the game's own `hash`
   */
  constructor(
    private readonly gameOf: (task: string) => Game | Promise<Game>,
    private readonly digest?: (bytes: Uint8Array) => Promise<string>,
  ) {}

  async reset(task: string): Promise<EnvironmentStart> {
    const episode = new Episode(await this.gameOf(task));
    this.#episode = episode;
    this.#task = task;
    const turn = episode.opening();
    const { observation, task: description } = splitResetText(turn.feedback);
    return {
      ...(await this.#turn(episode, turn)),
      observation: observation.trim(),
      description: description ?? "",
    };
  }

  async step(action: string): Promise<EnvironmentAnswer> {
    if (this.#episode === undefined) throw new Error("step before reset");
    const turn = this.#episode.step(action);
    return { ...(await this.#turn(this.#episode, turn)), status: turn.accepted ? "executed" : "rejected" };
  }

  async close(): Promise<void> {
    this.#episode = undefined;
  }

  async #turn(episode: Episode, { feedback, won }: Turn): Promise<EnvironmentTurn> {
    return {
      observation: feedback,
      feedback,
      offered: { commands: episode.admissible() },
      state: { key: await this.#key(episode), mode: "normal", options: {} },
      score: won ? 1 : 0,
      done: won,
      success: won,
    };
  }

  #key(episode: Episode): string | Promise<string> {
    if (this.digest === undefined) return episode.key(this.#task);
    const [facts, rest] = episode.keyParts(this.#task);
    const bytes = new Uint8Array(facts.length + rest.length);
    bytes.set(facts);
    bytes.set(rest, facts.length);
    return this.digest(bytes);
  }
}
