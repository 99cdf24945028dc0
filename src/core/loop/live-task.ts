/** Tasks of a live environment, as their protocol has them played. */
import { environmentRules } from "../environment/environment.ts";
import { decisionPrompt } from "../environment/prompt/decision-prompt.ts";
import type { PromptTemplate } from "../environment/prompt/template.ts";
import type { Protocol, Purpose } from "../environment/protocol.ts";
import type { Environment } from "../ports.ts";
import type { OpenedTask, PlayTask } from "./live-episode.ts";
import type { RolloutTask } from "./rollout.ts";

/** Where a live task's episodes are played, and what a user may set in place of the protocol's. */
export interface LiveTask {
  environment: string;
  task: string;
  /** An environment of its own for each episode that runs. */
  open(): Promise<Environment>;
  template?: PromptTemplate;
  /** The environment's limits when absent. */
  maxDecisions?: number;
  maxTokens?: number;
}

/** A task to play for a purpose, as its `repetition`-th episode. */
export function livePlay(
  live: LiveTask,
  purpose: Exclude<Purpose, "train">,
  { episode, repetition, seed }: { episode: string; repetition: number; seed: number },
): PlayTask {
  const protocol = environmentRules(live.environment).protocols[purpose];
  const { task } = live;
  return {
    ...common(live, protocol, episode),
    sampling: protocol.sampling,
    replies: protocol.replies,
    seedText: ({ decision, attempt }) =>
      protocol.seedText({ task, repetition, decision, attempt, policyVersion: 0, seed }),
  };
}

/** A task that the student plays once in each batch that has it. */
export function liveRollout(live: LiveTask): RolloutTask {
  const protocol = environmentRules(live.environment).protocols.train;
  const { task } = live;
  return {
    ...common(live, protocol, task),
    seedText: ({ repetition = 0, ...place }) => protocol.seedText({ task, repetition, attempt: 0, ...place }),
  };
}

function common(live: LiveTask, protocol: Protocol, episode: string) {
  const { limits, parseResponse } = environmentRules(live.environment);
  return {
    episode,
    environment: live.environment,
    task: live.task,
    maxDecisions: live.maxDecisions ?? limits.decisions,
    maxTokens: live.maxTokens ?? limits.responseTokens,
    open: async () => openLive(await live.open(), live, protocol),
    parse: (response: string, observation: string) => parseResponse(response, observation).action,
  };
}

/** A live environment with its prompts, and the fixed answer to a malformed response. */
export function openLive(
  environment: Environment,
  { environment: name, template }: Pick<LiveTask, "environment" | "template">,
  protocol: Pick<Protocol, "history" | "form">,
): OpenedTask {
  const rules = environmentRules(name);
  const { malformedFeedback } = template ?? rules.prompt.template;
  return {
    environment,
    prompt: ({ description }, turn, history) =>
      decisionPrompt(rules, protocol, description, turn, history, template),
    malformed: (turn) => ({
      ...turn,
      observation: malformedFeedback,
      feedback: malformedFeedback,
      status: "malformed",
    }),
  };
}
