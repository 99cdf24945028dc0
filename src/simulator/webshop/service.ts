/** A shop behind the released contract: what a server answers, without the HTTP. */
import type { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type {
  closeRequest,
  GoalAnswer,
  goalRequest,
  HealthAnswer,
  PageState,
  ReplayAnswer,
  ResetAnswer,
  replayRequest,
  resetRequest,
  StepAnswer,
  stepRequest,
} from "./contract.ts";
import type { Shop, ShopEpisode } from "./shop.ts";

/** Episodes that clients may keep open at once; each takes a few kilobytes. */
const MOST_EPISODES = 10_000;

function stateOf({ page, key }: ShopEpisode): PageState {
  // The last page keeps nothing but the purchase.
  const {
    keywords,
    page: number,
    sub_page,
  } = page.page_type === "done" ? { keywords: [], page: null, sub_page: null } : page;
  const { page_type, asin, options } = page;
  return { page_type, keywords, page: number, asin, options, sub_page, strict_key: key };
}

/** Answers of one shop. Every method throws `InputError` for what the shop does not have. */
export class ShopService {
  readonly #shop: Shop;
  readonly #episodes = new Map<string, ShopEpisode>();

  constructor(shop: Shop) {
    this.#shop = shop;
  }

  health(): HealthAnswer {
    const { goals, products } = this.#shop.catalogue;
    return {
      ok: true,
      goals: goals.length,
      products: products.length,
      active_episodes: this.#episodes.size,
      // The catalogue's own order and prices: nothing is drawn here.
      seed: null,
      goal_shuffle_seed: null,
      observation_mode: "text_rich",
      num_products: null,
    };
  }

  goal({ idx }: z.infer<typeof goalRequest>): GoalAnswer {
    const { goal } = this.#shop.open(idx);
    return { ...goal, ok: true, idx, name: this.#shop.product(goal.asin).Title };
  }

  /** Begins an episode; one of the same name ends. */
  reset({ episode: name, goal }: z.infer<typeof resetRequest>): ResetAnswer {
    const episode = this.#shop.open(goal);
    if (!this.#episodes.has(name) && this.#episodes.size >= MOST_EPISODES)
      throw new InputError(`${MOST_EPISODES} episodes are open: close some first`, { key: "episode" });
    this.#episodes.set(name, episode);
    return {
      ok: true,
      obs: episode.observation,
      instruction: episode.goal.instruction_text,
      available_actions: episode.actions,
      state: stateOf(episode),
      goal,
    };
  }

  step({ episode: name, action }: z.infer<typeof stepRequest>): StepAnswer {
    const episode = this.#episodes.get(name);
    if (episode === undefined)
      throw new InputError(`no episode ${JSON.stringify(name)} is open`, { key: "episode" });
    return answerOf(episode, action);
  }

  /** Plays actions from the start page, up to the purchase. */
  replay({ goal, actions }: z.infer<typeof replayRequest>): ReplayAnswer {
    const episode = this.#shop.open(goal);
    const answer: ReplayAnswer = {
      ...{ ok: true, goal, instruction: episode.goal.instruction_text },
      states: [stateOf(episode)],
      obs: [episode.observation],
      available_actions: [episode.actions],
      rewards: [],
      dones: [],
      n_executed: 0,
    };
    for (const action of actions) {
      if (episode.done) break;
      const { obs, reward, done, available_actions } = answerOf(episode, action);
      answer.states.push(stateOf(episode));
      answer.obs.push(obs);
      answer.available_actions.push(available_actions);
      answer.rewards.push(reward);
      answer.dones.push(done);
      answer.n_executed++;
    }
    return answer;
  }

  /** Forgets an episode; one that is not open is closed already. */
  close({ episode }: z.infer<typeof closeRequest>): { ok: true } {
    this.#episodes.delete(episode);
    return { ok: true };
  }
}

function answerOf(episode: ShopEpisode, action: string): StepAnswer {
  const { reward, done } = episode.step(action);
  return {
    ok: true,
    obs: episode.observation,
    reward,
    done,
    available_actions: episode.actions,
    state: stateOf(episode),
  };
}
