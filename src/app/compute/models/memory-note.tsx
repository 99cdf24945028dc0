/** What a workload will need of the device, before it starts, and the limit that the user may set. */
import { useEffect, useId } from "react";
import { gibibytes, type MemoryPlan, type PlanPart, partBytes } from "../../../tensor/memory-plan.ts";
import { isDeviceBusy } from "../computing.ts";
import { useGames } from "../games/games.ts";
import { showScoringPlan } from "../scoring/score.ts";
import { useUi } from "../store.ts";
import { useTrainingForm } from "../training/training-form.ts";
import { showTrainingPlan } from "../training/training-plan.ts";
import { leavePlan, limitProblem, setMemoryLimit, useMemory, type Workload } from "./memory.ts";

const PARTS: readonly PlanPart[] = ["weights", "activations", "training state"];

/** Nothing is trained while scoring: what is there then is the optimizer of a student that was trained before. */
const partName = (part: PlanPart, workload: Workload): string =>
  workload === "score" && part === "training state" ? "student’s optimizer" : part;

/** `weights 1.2 GiB, activations 0.3 GiB`: the parts of a plan that are there. */
export function partsText(plan: MemoryPlan, workload: Workload): string {
  return PARTS.map((part) => [part, partBytes(plan, part)] as const)
    .filter(([, bytes]) => bytes > 0)
    .map(([part, bytes]) => `${partName(part, workload)} ${gibibytes(bytes)}`)
    .join(", ");
}

/** Counts again when anything that the plan depends on changes, and never while a model is at work. */
function usePlan(workload: Workload): void {
  const decision = useUi((ui) => ui.decision);
  const models = useUi((ui) => ui.models);
  const device = useUi((ui) => ui.device.kind);
  const idle = !useUi(isDeviceBusy);
  const place = useUi((ui) => ui.place);
  const weights = useMemory((state) => state.weights);
  const limit = useMemory((state) => state.limitGib);
  const library = useUi((ui) => ui.library);
  const openGames = useGames(({ tasks }) => tasks);
  const { where, data, games, passes, texts } = useTrainingForm();
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are what the plan is made from
  useEffect(() => {
    if (device === "unknown" || !idle) return;
    void (workload === "score" ? showScoringPlan() : showTrainingPlan());
  }, [
    ...[workload, decision, models, device, idle, place, weights, limit, library, openGames],
    ...[where, data, games, passes, texts],
  ]);
  useEffect(() => () => leavePlan(workload), [workload]);
}

export function MemoryNote({ workload }: { workload: Workload }) {
  usePlan(workload);
  const { plan, problem, counting, uncounted } = useMemory((state) => state.plans[workload]);
  const limit = useMemory((state) => state.limitGib);
  const invalid = limitProblem(limit);
  const fault = invalid ?? problem;
  const id = useId();
  return (
    <div className="memory-note" data-testid={`memory-${workload}`} aria-busy={counting}>
      <details>
        <summary>
          What it will need:{" "}
          {plan === null ? counting ? "counting…" : "not known yet" : <Sum plan={plan} workload={workload} />}
        </summary>
        {plan !== null && <Items plan={plan} workload={workload} />}
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

function Sum({ plan, workload }: { plan: MemoryPlan; workload: Workload }) {
  return (
    <>
      about <strong>{gibibytes(plan.total)}</strong> ({partsText(plan, workload)})
    </>
  );
}

function Items({ plan, workload }: { plan: MemoryPlan; workload: Workload }) {
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
            <td>{partName(part, workload)}</td>
            <td>{name}</td>
            <td className="number">{gibibytes(bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The memory of the workload as it was planned, for the facts of what was measured. */
export function useMemoryFacts(workload: Workload): [string, string][] {
  const { plan } = useMemory((state) => state.plans[workload]);
  if (plan === null) return [];
  return [["memory, planned", `${gibibytes(plan.total)}: ${partsText(plan, workload)}`]];
}
