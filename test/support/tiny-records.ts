/** A library and episodes that fit tiny models: short texts, whole executions. */
import type { Episode, Source } from "../../src/core/record/schema.ts";

const state = (key: string) => ({ key, mode: "normal", options: {} });

function decision(key: string, action: string, feedback: string, observation: string) {
  return {
    observation,
    state: state(key),
    action,
    binding: null,
    status: "executed" as const,
    feedback,
    score: 0,
    gap_before: false,
  };
}

/** Two tasks with a successful source each, and four short failed episodes that pass through its states. */
export function tinyRecords(): { sources: Source[]; episodes: Episode[] } {
  const shared = {
    environment: "scienceworld",
    task_description: "Open the door.",
    initial_observation: "A hall.",
  };
  const sources: Source[] = ["t1", "t2"].map((task) => ({
    format: "gcopd.source.v1",
    ...shared,
    task,
    source: "teacher:0",
    repetition: 0,
    origin: { kind: "teacher" },
    decisions: [{ ...decision("hall", "open door", "It is open.", "A hall."), attempts: [] }],
    final_state: state("open"),
    outcome: { complete: true, success: true, score: 100, ended: "environment", verified: true },
  }));
  const episodes: Episode[] = ["e1", "e2", "e3", "e4"].map((episode, n) => ({
    format: "gcopd.episode.v1",
    ...shared,
    task: n % 2 === 0 ? "t1" : "t2",
    episode,
    decisions: [
      decision("hall", "wait", "Nothing happens.", "A hall."),
      decision("hall", "go north", "There is a wall.", "Nothing happens."),
    ]
      .slice(0, 1 + (n % 2))
      .map((entry, t) => ({
        ...entry,
        prompt: `You see: ${entry.observation}`,
        response: `<thought>Try ${episode} ${t}.</thought><action>${entry.action}</action>`,
      })),
    final_state: state("hall"),
    outcome: { complete: true, success: false, score: 0, ended: "horizon", verified: true },
  }));
  return { sources, episodes };
}
