/**
 * The HTTP contract of the released WebShop server: `GET /health`, `GET /goal?idx=N`, `POST /reset`, `/step`, `/replay`
 * and `/close`, with JSON bodies. A refusal has `ok: false` and `error`.
 */
import { z } from "zod";

const availableActions = z.object({
  has_search_bar: z.boolean(),
  clickables: z.array(z.string()).readonly(),
});

const pageState = z.looseObject({
  page_type: z.string(),
  keywords: z.array(z.string()),
  page: z.int().nullable(),
  asin: z.string().nullable(),
  options: z.record(z.string(), z.string()),
  sub_page: z.string().nullable(),
  /** The locator's key. */
  strict_key: z.string(),
});

export const healthAnswer = z.looseObject({
  ok: z.literal(true),
  goals: z.int(),
  products: z.int(),
  active_episodes: z.int(),
  /** Null where nothing was drawn at random. */
  seed: z.int().nullable(),
  goal_shuffle_seed: z.int().nullable(),
  observation_mode: z.string(),
});

export const goalAnswer = z.looseObject({
  instruction_text: z.string(),
  asin: z.string(),
  attributes: z.array(z.string()),
  price_upper: z.number(),
  goal_options: z.array(z.string()),
});

export const resetAnswer = z.looseObject({
  ok: z.literal(true),
  obs: z.string(),
  instruction: z.string(),
  available_actions: availableActions,
  /** The server for evaluation leaves it out. */
  state: pageState.optional(),
  goal: z.int(),
});

export const stepAnswer = z.looseObject({
  ok: z.literal(true),
  obs: z.string(),
  /** 0 to 1; 0 before the purchase. */
  reward: z.number(),
  done: z.boolean(),
  available_actions: availableActions,
  state: pageState.optional(),
});

/** `states`, `obs` and `available_actions` begin with the reset; the others have one entry per executed action. */
export const replayAnswer = z.looseObject({
  states: z.array(pageState),
  obs: z.array(z.string()),
  available_actions: z.array(availableActions),
  rewards: z.array(z.number()),
  dones: z.array(z.boolean()),
  n_executed: z.int(),
});

export const closeAnswer = z.looseObject({ ok: z.literal(true) });

export type HealthAnswer = z.infer<typeof healthAnswer>;
export type GoalAnswer = z.infer<typeof goalAnswer>;
export type ResetAnswer = z.infer<typeof resetAnswer>;
export type StepAnswer = z.infer<typeof stepAnswer>;
export type ReplayAnswer = z.infer<typeof replayAnswer>;
export type PageState = z.infer<typeof pageState>;

export const goalRequest = z.object({ idx: z.coerce.number().int() });
export const resetRequest = z.object({ episode: z.string(), goal: z.int() });
export const stepRequest = z.object({ episode: z.string(), action: z.string() });
export const replayRequest = z.object({ goal: z.int(), actions: z.array(z.string()).max(1000) });
export const closeRequest = z.object({ episode: z.string() });
