/** A model decides in the episode that is played in the page: once, or to its end. */

import { InputError } from "../../../core/errors.ts";
import { type LiveEpisode, reply } from "../../../core/loop/index.ts";
import type { Episode, EpisodeDecision } from "../../../core/record/schema.ts";
import { seedOf } from "../../../core/seeded.ts";
import { describeFault, isAbort, isDeviceFault } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import { whyAtWork } from "../../compute/computing.ts";
import { libraryWith, type Policy, player, usePlay } from "../../compute/games/play.ts";
import { models } from "../../compute/models/models.ts";
import { getUi, type Role, setUi } from "../../compute/store.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { PresentContext, TaskName } from "../../data/model.ts";

const showProblem = (problem: string | null): void => usePlay.setState({ problem });

/** The model that decides. */
export const ROLE_OF: Record<Policy, Role> = { student: "student", teacher: "teacher", evidence: "teacher" };

/** Why a policy cannot play now, in a few words; null where it can. */
export function policyProblem(policy: Policy, game: TaskName | null): string | null {
  if (policy === "evidence" && game !== null && libraryWith(game) === null)
    return "no open library has this task";
  return null;
}

const page = { player, models, library: libraryWorker };

export class PlayPolicy {
  /** Runs that were begun: a press of "Stop" ends its own only. */
  readonly #runs = new Latest();
  #stop: (() => void) | null = null;

  constructor(private readonly clients: typeof page) {}

  /** Lets a model decide: once, or to the end of the episode. */
  async start(policy: Policy, onward: boolean): Promise<void> {
    const live = this.clients.player.present;
    if (live === null || live.ended !== null || usePlay.getState().busy) return;
    const why = whyAtWork();
    if (why !== null) return showProblem(`No model can decide now: ${why}.`);
    this.#runs.end();
    showProblem(null);
    setUi({ playing: { label: "Getting ready", stopping: false } });
    try {
      do {
        await this.#decide(live, policy);
      } while (onward && live.ended === null && getUi().playing?.stopping === false);
    } catch (error) {
      if (isDeviceFault(error)) this.clients.models.endWorker();
      if (!isAbort(error)) showProblem(describeFault(error));
    } finally {
      setUi({ playing: null });
    }
  }

  async #decide(episode: LiveEpisode, policy: Policy): Promise<void> {
    const { task, opened, start, turn, decisions } = episode;
    const decision = decisions.length;
    const say = (label: string): void =>
      setUi(({ playing }) => ({ playing: playing && { ...playing, label } }));
    const prompt = opened.prompt(start, turn, decisions);
    say(`Decision ${decision}: getting ready`);
    const client = await this.#stoppable(this.clients.models.ensure(ROLE_OF[policy]));
    const context =
      policy === "evidence" ? await this.#stoppable(this.#evidenceFor(episode, prompt.message)) : null;
    const seed = seedOf(task.seedText({ decision, attempt: 0 }));
    const { episode: id, environment, sampling } = task;
    // It may have been chosen for an environment with a higher limit.
    const maxTokens = Math.min(usePlay.getState().maxTokens ?? task.maxTokens, task.maxTokens);
    // A worker that has nothing to do hears no stop.
    if (getUi().playing?.stopping === true) throw new DOMException("stopped", "AbortError");
    say(`Decision ${decision}: the ${ROLE_OF[policy]} writes`);
    const written = await this.#stoppable(
      client.api.respond(ROLE_OF[policy], {
        task: { episode: id, environment, sampling, maxTokens },
        prompt,
        evidenceIds: context?.promptIds ?? null,
        decision,
        seed,
      }),
    );
    await reply(episode, task.parse(written.response ?? "", turn.observation), {
      ...written,
      by: policy === "evidence" ? "teacher under evidence" : policy,
      seed,
    });
    this.clients.player.show({ context: context === null ? null : { ...context, decision } });
  }

  /** What the teacher reads under evidence. @throws InputError where no open library has the task any more */
  #evidenceFor(episode: LiveEpisode, prompt: string): Promise<PresentContext> {
    const library = libraryWith(episode.task);
    if (library === null) throw new InputError("no open library has this task");
    return this.clients.library().tasks.presentContext(library, asked(episode, prompt));
  }

  /** A worker that is ended never answers. */
  #stoppable<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#stop = () => reject(new DOMException("stopped", "AbortError"));
      work.then(resolve, reject);
    });
  }

  /** Ends what a model is doing; the decisions that it has made stay. */
  async stop(): Promise<void> {
    const { playing } = getUi();
    if (playing === null || playing.stopping) return;
    const isLatest = this.#runs.present();
    setUi({ playing: { ...playing, stopping: true } });
    const goesOn = () => isLatest() && getUi().playing?.stopping === true;
    if (await this.clients.models.stopWork(goesOn)) this.#stop?.();
  }
}

export const playPolicy = new PlayPolicy(page);

/** The episode with the decision that is to be made at its end, as retrieval looks at it. */
function asked({ task, start, turn, decisions }: LiveEpisode, prompt: string): Episode {
  const { observation, state } = turn;
  const pending: EpisodeDecision = {
    ...{ observation, state, prompt, response: "" },
    ...{ action: null, binding: null, status: "malformed", feedback: "", score: null, gap_before: false },
  };
  return {
    format: "gcopd.episode.v1",
    ...{ environment: task.environment, task: task.task, episode: task.episode },
    task_description: start.description,
    initial_observation: start.observation,
    decisions: [...decisions, pending],
    final_state: null,
    outcome: { complete: false, success: false, score: null, ended: "technical", verified: false },
  };
}
