/** OPD steps on one episode, vanilla first and then graph-conditioned, with what they did to the student. */
import { batchRows, type Row } from "../../core/loop/index.ts";
import type { StageEvidence } from "../../core/method/index.ts";
import type { Scorer, StepReport, StepSettings, Trainer, TrainItem } from "../../core/ports.ts";
import type { Episode } from "../../core/record/schema.ts";
import type { Sample } from "./sample.ts";

export interface UpdateStep {
  stage: string;
  report: StepReport;
  /** Σ w A log p_θ with the step's own advantages, before and after the update. */
  alignment: { before: number; after: number };
}

export interface UpdateResult {
  rows: Row[];
  /** The student's log-probabilities of each row's response before the first step and after the last. */
  before: Float32Array[];
  after: Float32Array[];
  steps: UpdateStep[];
}

const STAGES: { name: string; evidence: StageEvidence }[] = [
  { name: "vanilla", evidence: { kind: "none" } },
  { name: "graph-conditioned", evidence: { kind: "graph-conditioned", control: "graph" } },
];

/** Takes `count` steps of each stage on all decisions of the episode. */
export async function updateStudent(
  sample: Sample,
  episode: Episode,
  teacher: Scorer,
  student: Trainer,
  settings: StepSettings,
  count: number,
  onStep: (stage: string, step: number) => void,
  signal: AbortSignal,
): Promise<UpdateResult> {
  const rows = batchRows([episode], sample.codec);
  const scoreStudent = async () => {
    const requests = rows.map(({ promptIds, responseIds }, n) => ({ id: String(n), promptIds, responseIds }));
    return (await student.score(requests, { signal })).map(({ logprobs }) => logprobs);
  };
  const before = await scoreStudent();
  let after = before;
  const steps: UpdateStep[] = [];
  for (const { name, evidence } of STAGES) {
    const context = await sample.contexts(episode, evidence);
    const teacherLogprobs = await teacher.score(
      rows.map(({ decision, promptIds, responseIds }) => ({
        id: String(decision),
        promptIds: context(decision, promptIds, responseIds.length).promptIds,
        responseIds,
      })),
      { signal },
    );
    for (let n = 0; n < count; n++) {
      onStep(name, n + 1);
      const items: TrainItem[] = rows.map((row, i) => ({
        episode: episode.episode,
        decision: row.decision,
        promptIds: row.promptIds,
        responseIds: row.responseIds,
        teacherLogprobs: teacherLogprobs[i]!.logprobs,
        // Recorded without log p_old: the rollout policy is the student at the start of the step.
        rolloutLogprobs: row.rolloutLogprobs,
        weight: row.weight,
      }));
      const report = await student.step(items, settings, { signal });
      after = await scoreStudent();
      const held = (logprobs: readonly Float32Array[]) =>
        report.items.reduce(
          (total, { advantage }, i) =>
            total + advantage.reduce((sum, a, t) => sum + rows[i]!.weight * a * logprobs[i]![t]!, 0),
          0,
        );
      steps.push({
        stage: name,
        report,
        alignment: { before: held(report.items.map(({ logprobs }) => logprobs)), after: held(after) },
      });
    }
  }
  return { rows, before, after, steps };
}
