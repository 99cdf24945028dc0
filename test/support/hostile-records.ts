/** Records made hostile: every name and every text of theirs, in otherwise valid recordings. */
import { EVERYTHING } from "./hostile.ts";

interface Decision {
  observation: string;
  action: string | null;
  feedback: string;
}

interface Execution<D extends Decision> {
  task: string;
  task_description: string;
  decisions: D[];
}

/** What was seen is `text` at first and every hostile text after; `number` parts one decision's texts from another's. */
function decisionWith<D extends Decision>(decision: D, number: number, text: string): D {
  return {
    ...decision,
    observation: number === 0 ? text : `${decision.observation} ${EVERYTHING}`,
    // The first action is what leads on from the shared state.
    action: number === 0 ? decision.action : `${decision.action} ${text.slice(0, 200_000)}`,
    feedback: EVERYTHING,
  };
}

/** A source of another name, in a task of another name, with hostile texts. */
export function hostileSource<D extends Decision, S extends Execution<D> & { source: string }>(
  source: S,
  task: string,
  name: string,
  text: string,
): S {
  return {
    ...source,
    task,
    source: `${source.source}${name}`,
    task_description: `${EVERYTHING}${text.slice(0, 20_000)}`,
    decisions: source.decisions.map((decision, i) => decisionWith(decision, i, text)),
  };
}

/** An episode of another name, in a task of another name, with hostile texts, prompts and responses. */
export function hostileEpisode<
  D extends Decision & { prompt?: unknown; response?: string | undefined },
  E extends Execution<D> & { episode: string },
>(episode: E, task: string, name: string, text: string): E {
  return {
    ...episode,
    task,
    episode: name,
    task_description: EVERYTHING,
    decisions: episode.decisions.map((decision, i) => ({
      ...decisionWith(decision, i, text),
      prompt: text,
      response: `<thought>${EVERYTHING}</thought><action>${text.slice(0, 2000)}</action>`,
    })),
  };
}
