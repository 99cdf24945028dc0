/** WebShop behind the port: a shop in this process, or one behind the released HTTP contract. */
import type { PageDescriptor } from "../../core/environment/webshop/page.ts";
import type { PageActions } from "../../core/environment/webshop/prompt.ts";
import { EnvironmentError, InputError } from "../../core/errors.ts";
import type {
  Environment,
  EnvironmentAnswer,
  EnvironmentStart,
  EnvironmentTurn,
  NoAnswer,
} from "../../core/ports.ts";
import type { State } from "../../core/record/schema.ts";
import { offeredAction } from "./action.ts";
import type { ShopClient } from "./client.ts";
import type { PageState } from "./contract.ts";
import type { Shop, ShopEpisode } from "./shop.ts";

/** A purchase succeeds from this reward on. */
const FULL_REWARD = 1 - 1e-9;

interface Shown {
  observation: string;
  actions: PageActions;
  state: State | null;
  reward: number;
  done: boolean;
}

/** The score is the reward, 0 to 1. */
function turn({ observation, actions, state, reward, done }: Shown): EnvironmentTurn {
  const { has_search_bar: searchBar, clickables } = actions;
  return {
    observation,
    feedback: observation,
    offered: { searchBar, clickables },
    state,
    score: reward,
    done,
    success: done && reward >= FULL_REWARD,
  };
}

/** A page as records keep it: its key, and what the key is made of. */
const stateOf = (key: string, descriptor: PageDescriptor): State => ({
  key,
  mode: "normal",
  options: {},
  descriptor,
});

/** A shop in this process. Tasks are `goal6`, after the catalogue's name where it has one. */
export class ShopEnvironment implements Environment {
  readonly #shop: Shop;
  #episode: ShopEpisode | null = null;

  constructor(shop: Shop) {
    this.#shop = shop;
  }

  async reset(task: string): Promise<EnvironmentStart> {
    const episode = this.#shop.open(this.#shop.goalOf(task));
    this.#episode = episode;
    return { ...this.#turn(episode, 0), description: episode.goal.instruction_text };
  }

  async step(action: string): Promise<EnvironmentAnswer> {
    const episode = this.#episode;
    if (episode === null) throw new Error("step before reset");
    const { rejected, reward } = episode.step(action);
    return { ...this.#turn(episode, reward), status: rejected ? "rejected" : "executed" };
  }

  async close(): Promise<void> {
    this.#episode = null;
  }

  #turn({ observation, actions, key, page, done }: ShopEpisode, reward: number): EnvironmentTurn {
    return turn({ observation, actions, state: stateOf(key, page), reward, done });
  }
}

/** A page of a server; the evaluation server sends none. */
function serverState(state: PageState | undefined): State | null {
  if (state === undefined) return null;
  const { page_type, keywords, page, asin, options, sub_page, strict_key } = state;
  const descriptor =
    page_type === "done"
      ? { page_type, asin, options }
      : { page_type, keywords, page, asin, options, sub_page };
  return { key: strict_key, mode: "normal", options: {}, descriptor };
}

/** A server of the released contract. Tasks are `goal6`. */
export class ShopServerEnvironment implements Environment {
  readonly #client: ShopClient;
  readonly #episode = crypto.randomUUID();
  #actions: PageActions | null = null;

  constructor(client: ShopClient) {
    this.#client = client;
  }

  /** @throws InputError for a task of another name; EnvironmentError when the server refuses the goal or fails */
  async reset(task: string): Promise<EnvironmentStart> {
    const digits = /^goal(0|[1-9]\d*)$/.exec(task)?.[1];
    if (digits === undefined)
      throw new InputError(`expected goal0, goal1, ..., received ${JSON.stringify(task)}`, { key: "task" });
    const { obs, instruction, available_actions, state } = await this.#client
      .reset(this.#episode, Number(digits))
      .catch((error: unknown) => {
        throw error instanceof InputError ? new EnvironmentError(error.reason, error.where) : error;
      });
    this.#actions = available_actions;
    const shown = { observation: obs, actions: available_actions, state: serverState(state) };
    return { ...turn({ ...shown, reward: 0, done: false }), description: instruction };
  }

  /** A server that fails in the middle of an episode ends it for a technical reason. */
  async step(action: string): Promise<EnvironmentAnswer | NoAnswer> {
    const before = this.#actions;
    if (before === null) throw new Error("step before reset");
    try {
      const { obs, reward, done, available_actions, state } = await this.#client.step(this.#episode, action);
      this.#actions = available_actions;
      const shown = { observation: obs, actions: available_actions, state: serverState(state) };
      const status = offeredAction(action, before) === null ? "rejected" : "executed";
      return { ...turn({ ...shown, reward, done }), status };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { unanswered: error.message };
    }
  }

  /** A server that does not answer any more is left alone: nothing that was played depends on it. */
  async close(): Promise<void> {
    if (this.#actions === null) return;
    this.#actions = null;
    await this.#client.close(this.#episode).catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
    });
  }
}
