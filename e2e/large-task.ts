/** One task with as many executions, visits and states as a test wants: lanes of states that executions change between. */
import { createHash } from "node:crypto";
import { uniforms } from "../src/core/seeded.ts";
import { jsonLines, type UploadFile, upload } from "./own-files.ts";

export interface LargeTask {
  task: string;
  executions: number;
  /** Decisions of each. */
  decisions: number;
  /** States that exist at each step. */
  lanes: number;
  /** Texts of the records, where a test wants other ones. */
  text?: (execution: number, decision: number) => string;
}

const keyOf = (name: string): string => createHash("sha256").update(name).digest("hex");

/** A library and two episodes. The same on every call. */
export function largeTask({ task, executions, decisions, lanes, text }: LargeTask): UploadFile[] {
  const random = uniforms(executions * 1000 + lanes);
  const common = {
    environment: "scienceworld",
    task,
    task_description: `A task of ${executions} executions.`,
    initial_observation: "You are in lane 0.",
  };
  const walk = (execution: number) => {
    let lane = execution % lanes;
    let step = 0;
    const at = () => ({ key: keyOf(`${task} ${step} ${lane}`), mode: "normal", options: {} });
    let observation = text?.(execution, 0) ?? `You are in lane ${lane}, step ${step}.`;
    const list = Array.from({ length: decisions }, (_, decision) => {
      const state = at();
      const draw = random();
      let action = "go on";
      if (draw < 0.05 && decision > 0) action = "wait";
      else if (draw < 0.1 && step > 4) {
        action = "go back";
        step -= 3;
      } else {
        if (draw < 0.2) {
          action = "change lane";
          lane = (lane + 1) % lanes;
        }
        step += 1;
      }
      const feedback = text?.(execution, decision + 1) ?? `You are in lane ${lane}, step ${step}.`;
      const made = {
        ...{ observation, state, action, binding: null, status: "executed", feedback },
        ...{ score: decision, gap_before: false },
      };
      observation = feedback;
      return made;
    });
    return { decisions: list, final_state: at() };
  };
  const outcome = (success: boolean) => ({
    ...{ complete: true, success, score: success ? 100 : 0, ended: "environment", verified: true },
  });
  const sources = Array.from({ length: executions }, (_, r) => {
    const { decisions: list, final_state } = walk(r);
    return {
      ...{ format: "gcopd.source.v1", ...common, source: `teacher:${r}`, repetition: r },
      ...{ origin: { kind: "teacher" }, final_state, outcome: outcome(r % 3 !== 0) },
      decisions: list.map((each) => ({ ...each, attempts: [] })),
    };
  });
  const episodes = [0, 1].map((n) => {
    const { decisions: list, final_state } = walk(n);
    return {
      ...{ format: "gcopd.episode.v1", ...common, episode: `student#${n}`, final_state },
      outcome: outcome(n === 0),
      decisions: list.map((each) => ({
        ...each,
        prompt: `You see: ${each.observation.slice(0, 200)}`,
        response: `<thought>On.</thought><action>${each.action}</action>`,
      })),
    };
  });
  return [upload("sources.jsonl", jsonLines(sources)), upload("episodes.jsonl", jsonLines(episodes))];
}
