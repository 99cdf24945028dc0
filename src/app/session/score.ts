/** Scoring one decision: the teacher without and with evidence on the same response ids, and the student. */
import * as Comlink from "comlink";
import type { DecisionModel } from "../model.ts";
import { isComputing } from "../state/computing.ts";
import { getUi, type Role, setUi } from "../state/store.ts";
import { libraryWorker } from "../workers/clients.ts";
import { remaining } from "./eta.ts";
import { describeFault, isAbort } from "./faults.ts";
import { computeWorker, endComputeWorker, ensureModel } from "./models.ts";

/** One name for a decision of the open library and the evidence that was asked for. */
export function scoreKey(
  decision: Pick<DecisionModel, "environment" | "task" | "episode" | "decision" | "selection">,
): string {
  const { environment, task, episode, selection } = decision;
  return JSON.stringify([environment, task, episode, decision.decision, selection]);
}

/** Cancelled runs end their worker, and what it was asked for never answers: each run knows if it is still the one. */
let run = 0;

export async function scoreDecision(): Promise<void> {
  const { decision } = getUi();
  if (decision === null || isComputing()) return;
  run += 1;
  const mine = run;
  const key = scoreKey(decision);
  const began = performance.now();
  const show = (label: string, done: number, lengths: readonly number[], finished: number): void => {
    if (mine !== run || getUi().scoring.status === "cancelling") return;
    const total = lengths.reduce((sum, n) => sum + n, 0);
    const eta = remaining(lengths, finished, (performance.now() - workBegan) / 1000);
    setUi({ scoring: { status: "running", key, label, done, total, eta } });
  };
  let workBegan = began;
  show("Opening the teacher", 0, [], 0);
  try {
    await ensureModel("teacher");
    if (mine !== run) return;
    show("Opening the student", 0, [], 0);
    const { api } = await ensureModel("student");
    const pair = await libraryWorker().pair(
      decision,
      decision.episode,
      decision.decision,
      decision.selection,
    );
    if (mine !== run) return;
    const { responseIds, vanillaIds, graphIds, pieces } = pair;
    const passes: { role: Role; label: string; promptIds: number[] }[] = [
      { role: "teacher", label: "Teacher, without evidence", promptIds: vanillaIds },
      { role: "student", label: "Student", promptIds: vanillaIds },
      { role: "teacher", label: "Teacher, with evidence", promptIds: graphIds },
    ];
    const lengths = passes.map(({ promptIds }) => promptIds.length + responseIds.length);
    const results: Float32Array[] = [];
    workBegan = performance.now();
    let done = 0;
    for (const [i, { role, label, promptIds }] of passes.entries()) {
      show(label, done, lengths, i);
      const before = done;
      const [logprobs] = await api.score(
        role,
        [{ id: key, promptIds, responseIds }],
        Comlink.proxy((progress) => show(label, before + progress.done, lengths, i)),
      );
      if (mine !== run) return;
      results.push(logprobs!);
      done += lengths[i]!;
    }
    const { teacher, student } = getUi().models;
    if (teacher === null) throw new Error("the teacher is not open any more");
    setUi((ui) => ({
      scoring: { status: "idle" },
      scores: {
        ...ui.scores,
        [key]: {
          pieces,
          ids: responseIds,
          vanilla: results[0]!,
          student: results[1]!,
          graph: results[2]!,
          vanillaContext: vanillaIds.length,
          graphContext: graphIds.length,
          teacher: teacher.info,
          studentInfo: student,
          seconds: (performance.now() - workBegan) / 1000,
        },
      },
    }));
  } catch (error) {
    if (mine !== run) return;
    setUi({
      scoring: isAbort(error) ? { status: "idle" } : { status: "failed", key, message: describeFault(error) },
    });
  }
}

/** Milliseconds that a worker gets to stop by itself, before it is ended. */
const GRACE = 1000;

/** Asks the scoring to stop; a pass that does not hear is ended with its worker. */
export async function cancelScoring(): Promise<void> {
  const { scoring } = getUi();
  if (scoring.status !== "running") return;
  const mine = run;
  setUi({ scoring: { status: "cancelling", key: scoring.key } });
  void computeWorker().then(({ api }) => api.abort());
  await new Promise((resolve) => setTimeout(resolve, GRACE));
  if (mine !== run || getUi().scoring.status !== "cancelling") return;
  run += 1;
  endComputeWorker();
  setUi({ scoring: { status: "idle" } });
}
