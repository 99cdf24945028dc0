/** A task of the miniature: its game, what the noisy planner plays in it, and which actions are optimal. */
import { readFileSync } from "node:fs";
import { environmentRules, readPromptTemplate } from "../../src/core/environment/index.ts";
import { plannedSource, playedSource, verified } from "../../src/core/loop/collect.ts";
import type { TextCodec } from "../../src/core/loop/index.ts";
import {
  beginEpisode,
  finished,
  type Played,
  playedEpisode,
  reply,
} from "../../src/core/loop/live-episode.ts";
import { type LiveTask, livePlay } from "../../src/core/loop/live-task.ts";
import type { Episode, EpisodeDecision, Source } from "../../src/core/record/schema.ts";
import { seedOf, uniforms } from "../../src/core/seeded.ts";
import { sha256OfParts } from "../../src/node/sha256.ts";
import { AlfworldEnvironment } from "../../src/simulator/alfworld/environment.ts";
import { Episode as GameEpisode } from "../../src/simulator/alfworld/episode.ts";
import { Game } from "../../src/simulator/alfworld/game.ts";
import { makeGame } from "../../src/simulator/alfworld/generate.ts";
import { OptimalActions } from "../../src/simulator/alfworld/optimal.ts";
import { NoisyPlanner, placesOf } from "./noisy-planner.ts";

/** Decisions of an episode at most. */
export const HORIZON = 16;
/** Tokens of a response at most: the longest action has 11. */
export const RESPONSE_TOKENS = 16;
export const PROMPT_FILE = "public/miniature/prompt.json";

const template = (file: string) =>
  readPromptTemplate(JSON.parse(readFileSync(file, "utf8")), environmentRules("alfworld").prompt.lists, {
    file,
  });

/** Which actions were optimal at each decision of an episode; none where it was won before. */
export type OptimalAt = string[][];

export class MiniatureTask {
  readonly task: string;
  readonly live: LiveTask;
  readonly game: Game;
  readonly #optimal: OptimalActions;

  constructor(seed: number, world: number, promptFile = PROMPT_FILE) {
    const made = makeGame(seed, "mini", undefined, world);
    this.task = made.task;
    this.game = new Game(made, made.task, { hash: sha256OfParts });
    this.#optimal = new OptimalActions(made, new GameEpisode(this.game));
    this.live = {
      environment: "alfworld",
      task: made.task,
      open: async () => new AlfworldEnvironment(() => this.game),
      template: template(promptFile),
      maxDecisions: HORIZON,
      maxTokens: RESPONSE_TOKENS,
    };
  }

  /** Every place that one can go to. */
  get places(): string[] {
    return placesOf(new GameEpisode(this.game));
  }

  /** Commands that begin a shortest completion from a state of the game. */
  optimalAt(episode: GameEpisode): readonly string[] {
    return this.#optimal.at(episode).commands;
  }

  /** Execution k of the noisy planner as a source, verified by replay unless `trusted`. */
  async source(k: number, noise: number, { trusted = false } = {}): Promise<Source> {
    const { played } = await this.#play("collect", `${this.task}#${k}`, k, noise, null);
    const source = playedSource(played, {
      source: `teacher:${k}`,
      repetition: k,
      origin: { kind: "teacher", model: "noisy planner" },
    });
    // A made game repeats itself; rows for training are spared the second execution.
    if (trusted) return { ...source, outcome: { ...source.outcome, verified: source.outcome.complete } };
    return verified(source, await this.live.open());
  }

  /** The execution of the game's walkthrough, as a collection adds it to the sampled ones. */
  async plan(): Promise<Source> {
    const { kind, repetition } = environmentRules(this.live.environment).plan;
    const name = { source: `${kind}:${repetition}`, repetition, origin: { kind } } as const;
    const source = await plannedSource(await this.live.open(), this.live, this.game.walkthrough ?? [], name);
    if (source === null) throw new Error(`${this.task}: its own walkthrough does not solve it`);
    return source;
  }

  /** An episode of the noisy planner in the student's place, with prompts and responses. */
  async episode(
    n: number,
    noise: number,
    codec: TextCodec,
  ): Promise<{ episode: Episode; optimal: OptimalAt }> {
    const { played, optimal } = await this.#play("evaluate", `${this.task}#${n}`, n, noise, codec);
    return { episode: playedEpisode(played), optimal };
  }

  /** Which actions were optimal at each decision of a recorded episode. */
  optimalOf(decisions: readonly EpisodeDecision[]): OptimalAt {
    const episode = new GameEpisode(this.game);
    return decisions.map(({ action, status }) => {
      const { commands } = this.#optimal.at(episode);
      if (action !== null && status !== "malformed") episode.step(action);
      return commands;
    });
  }

  async #play(
    purpose: "collect" | "evaluate",
    episode: string,
    repetition: number,
    noise: number,
    codec: TextCodec | null,
  ): Promise<{ played: Played; optimal: OptimalAt }> {
    const task = livePlay(this.live, purpose, { episode, repetition, seed: 0 });
    const opened = await task.open();
    const draw = uniforms(seedOf(`noisy planner|${purpose}|${episode}`));
    const planner = new NoisyPlanner(this.game, this.#optimal, noise, draw);
    const live = await beginEpisode({ task, opened });
    const optimal: OptimalAt = [];
    while (live.ended === null) {
      const action = planner.choose();
      if (codec === null) await reply(live, action);
      else {
        optimal.push(planner.optimalNow());
        const { message } = opened.prompt(live.start, live.turn, live.decisions);
        const place = { episode, decision: live.decisions.length };
        const { ids } = codec.prompt({ prompt: message }, task.environment, place);
        const response = responseTo(action);
        const responseIds = [...codec.encode(response), codec.endOfTurnId];
        await reply(live, action, {
          prompt: message,
          prompt_ids: [...ids],
          response,
          response_ids: responseIds,
        });
      }
      planner.step(action);
    }
    return { played: finished(live, live.ended), optimal };
  }
}

/** The response that gives an action. */
export const responseTo = (action: string): string => `<action>${action}</action>`;
