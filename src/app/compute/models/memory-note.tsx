/** What a job will need of the device, before it starts, and the limit that the user may set. */
import { useEffect, useId } from "react";
import { gibibytes, type MemoryPlan, type PlanPart, partBytes } from "../../../tensor/memory-plan.ts";
import { isModelAtWork } from "../computing.ts";
import { useGames } from "../games/games.ts";
import { showScoringPlan } from "../scoring/score.ts";
import { useUi } from "../store.ts";
import { useTrainingForm } from "../training/training-form.ts";
import { showTrainingPlan } from "../training/training-plan.ts";
import { type Job, leavePlan, limitProblem, setMemoryLimit, useMemory } from "./memory.ts";

const PARTS: readonly PlanPart[] = ["weights", "activations", "training state"];

/** Nothing is trained while scoring: what is there then is the student's optimizer, ready for a step. */
const partName = (part: PlanPart, job: Job): string =>
  job === "score" && part === "training state" ? "student’s optimizer" : part;

/** `weights 1.2 GiB, activations 0.3 GiB`: the parts of a plan that are there. */
export function partsText(plan: MemoryPlan, job: Job): string {
  return PARTS.map((part) => [part, partBytes(plan, part)] as const)
    .filter(([, bytes]) => bytes > 0)
    .map(([part, bytes]) => `${partName(part, job)} ${gibibytes(bytes)}`)
    .join(", ");
}

/** Counts again when anything that the plan depends on changes, and never while a model is at work. */
function usePlan(job: Job): void {
  const decision = useUi((ui) => ui.decision);
  const models = useUi((ui) => ui.models);
  const device = useUi((ui) => ui.device.kind);
  const idle = !useUi(isModelAtWork);
  const place = useUi((ui) => ui.place);
  const weights = useMemory((state) => state.weights);
  const limit = useMemory((state) => state.limitGib);
  const library = useUi((ui) => ui.library);
  const openGames = useGames(({ tasks }) => tasks);
  const { where, data, games, passes, texts } = useTrainingForm();
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are what the plan is made from
  useEffect(() => {
    if (device === "unknown" || !idle) return;
    void (job === "score" ? showScoringPlan() : showTrainingPlan());
  }, [
    ...[job, decision, models, device, idle, place, weights, limit, library, openGames],
    ...[where, data, games, passes, texts],
  ]);
  useEffect(() => () => leavePlan(job), [job]);
}

export function MemoryNote({ job }: { job: Job }) {
  usePlan(job);
  const { plan, problem, counting, uncounted } = useMemory((state) => state.plans[job]);
  const limit = useMemory((state) => state.limitGib);
  const invalid = limitProblem(limit);
  const fault = invalid ?? problem;
  const id = useId();
  return (
    <div className="memory-note" data-testid={`memory-${job}`} aria-busy={counting}>
      <details>
        <summary>
          What it will need:{" "}
          {plan === null ? counting ? "counting…" : "not known yet" : <Sum plan={plan} job={job} />}
        </summary>
        {plan !== null && <Items plan={plan} job={job} />}
      </details>
      <label>
        Limit{" "}
        <input
          type="number"
          min={0}
          step="any"
          defaultValue={limit ?? ""}
          placeholder="none"
          aria-invalid={invalid !== null}
          aria-describedby={invalid === null ? undefined : id}
          onChange={({ target }) => setMemoryLimit(target.value)}
        />{" "}
        GiB
      </label>
      {uncounted.map((sentence) => (
        <p key={sentence} className="note">
          {sentence}
        </p>
      ))}
      {fault !== null && (
        <p className="fault" id={id} role="status">
          {fault}
        </p>
      )}
    </div>
  );
}

function Sum({ plan, job }: { plan: MemoryPlan; job: Job }) {
  return (
    <>
      about <strong>{gibibytes(plan.total)}</strong> ({partsText(plan, job)})
    </>
  );
}

function Items({ plan, job }: { plan: MemoryPlan; job: Job }) {
  return (
    <table>
      <caption className="note">
        Teacher and student take turns: of what comes and goes with a pass, the larger counts. The browser
        does not say how much memory the device has; buffers add up to an eighth.
      </caption>
      <thead>
        <tr>
          <th scope="col">part</th>
          <th scope="col">what</th>
          <th scope="col">memory</th>
        </tr>
      </thead>
      <tbody>
        {plan.items.map(({ name, part, bytes }) => (
          <tr key={name}>
            <td>{partName(part, job)}</td>
            <td>{name}</td>
            <td className="number">{gibibytes(bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The memory of the job as it was planned, for the facts of what was measured. */
export function useMemoryFacts(job: Job): [string, string][] {
  const { plan } = useMemory((state) => state.plans[job]);
  if (plan === null) return [];
  return [["memory, planned", `${gibibytes(plan.total)}: ${partsText(plan, job)}`]];
}
