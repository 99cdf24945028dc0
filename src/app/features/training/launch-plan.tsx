/** What a run on a target will cost, item by item, before it is launched; and the script that would run it by hand. */
import { useEffect, useState } from "react";
import { gibibytes } from "../../../tensor/memory-plan.ts";
import { formatRange, type Range } from "../../base/eta.ts";
import { describeFault, isAbort } from "../../base/faults.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { CopyText } from "../../compute/run-card/copy-text.tsx";
import { amountText, diskBytes, gpuCost } from "../../compute/runs/launch-cost.ts";
import { useTargets } from "../../compute/runs/launches.ts";
import { speedKey, timeExpected } from "../../compute/runs/run-time.ts";
import { useRuns } from "../../compute/runs/runs-store.ts";
import type { Target, WorkerPlan } from "../../compute/runs/worker-answers.ts";
import type { ComposedConfig } from "../../compute/training/training-config.ts";
import { useTrainingForm } from "../../compute/training/training-form.ts";
import { workerTraining } from "../../compute/training/worker-training.ts";

const UNKNOWN = "not known";

const tokens = (count: number | null): string =>
  count === null ? `${UNKNOWN}: responses have not been drawn yet` : `${count.toLocaleString("en")} tokens`;

/**
 * @param plan what the worker or the target measured of this config; null before one did
 * @param measuredThere when the target did; null where the worker did
 */
export function LaunchPlan({
  composed,
  plan,
  measuredThere,
}: {
  composed: ComposedConfig;
  plan: WorkerPlan | null;
  measuredThere: string | null;
}) {
  const name = useTrainingForm((form) => form.target);
  const target = useTargets(({ targets }) => targets[name]);
  const runs = useRuns((state) => state.runs);
  if (target === undefined) return null;
  const time = plan === null ? null : timeOn(target);
  const cost = gpuCost(time?.range ?? null, target);
  const { cards } = composed.config ?? {};
  const perCard = cards === undefined || cards === 1 ? "" : " on each card";
  const kept = composed.config?.keep_checkpoints;
  const disk = plan === null || kept === undefined ? null : diskBytes(plan, kept);

  /** By a probe where the target is this machine, else by earlier steps of these models there. */
  function timeOn({ host, scheduler }: Target): { range: Range; by: string } | null {
    if (plan?.time && measuredThere !== null) return { range: plan.time, by: "by a probe on the target" };
    if (plan?.time && host === undefined && scheduler === "none")
      return { range: plan.time, by: "by a probe on this machine" };
    const key = speedKey({ where: "target", config: composed.written, launched: { target: name } });
    const expected = timeExpected(
      { teacherTokens: plan?.work.teacher_tokens ?? null, studentTokens: plan?.work.student_tokens ?? null },
      Object.values(runs).filter((run) => speedKey(run) === key),
    );
    return expected && { range: expected, by: `by ${expected.steps} earlier steps of these models there` };
  }

  const rows: [string, string][] =
    plan === null
      ? []
      : [
          ["Steps", `${plan.work.steps.toLocaleString("en")} over ${plan.work.decisions} decisions`],
          ["The teacher reads", tokens(plan.work.teacher_tokens)],
          ["The student reads", tokens(plan.work.student_tokens)],
          ["Responses", tokens(plan.work.response_tokens)],
          [
            `Memory${perCard}`,
            `${gibibytes(plan.total)}: ${plan.items.map((item) => `${item.name} ${gibibytes(item.bytes)}`).join(", ")}`,
          ],
          [
            "Time",
            time === null
              ? `${UNKNOWN} until these models have taken a step there`
              : `${formatRange(time.range)}, ${time.by}; not counting time in the queue`,
          ],
          [
            "GPU-hours",
            cost.gpuHours === null
              ? `${UNKNOWN}${target.gpus === undefined ? ": the target does not say how many GPUs it has" : ""}`
              : `${amountText(cost.gpuHours, 2)} on ${target.gpus} GPUs`,
          ],
          [
            "Price",
            cost.price === null
              ? `${UNKNOWN}${target.price_per_gpu_hour === undefined ? ": the target has no price per GPU-hour" : ""}`
              : `${amountText(cost.price, 2)} at ${target.price_per_gpu_hour} per GPU-hour`,
          ],
          [
            "Disk there",
            disk === null
              ? UNKNOWN
              : `${gibibytes(disk)} at most: ${kept} checkpoints, one being written, and the student`,
          ],
        ];
  return (
    <div className="launch-plan" data-testid="launch-plan">
      {rows.length > 0 && (
        <table>
          <tbody>
            {rows.map(([what, text]) => (
              <tr key={what}>
                <th scope="row">{what}</th>
                <td data-measured>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {plan !== null && measuredThere !== null && (
        <p className="note">
          Measured on the target, <span data-measured>{measuredThere.slice(0, 16).replace("T", " ")}</span>{" "}
          UTC, on {shownName(plan.device.adapter ?? plan.device.kind)}.
        </p>
      )}
      {plan !== null && measuredThere === null && (
        <p className="note">
          Measured on the worker, whose device cuts passes as {plan.device.adapter ?? plan.device.kind} does:
          the target’s may cut them otherwise.
        </p>
      )}
      <LaunchScript composed={composed} />
    </div>
  );
}

function LaunchScript({ composed }: { composed: ComposedConfig }) {
  const target = useTrainingForm((form) => form.target);
  const [open, setOpen] = useState(false);
  const [said, setSaid] = useState<{ text: string } | { doing: string }>({ doing: "Writing it" });
  const [bytes, setBytes] = useState<number | null>(null);
  const key = JSON.stringify([target, composed.written]);
  const isReady = composed.config !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a script is of one config on one target
  useEffect(() => {
    if (!open || !isReady) return;
    const mine = new AbortController();
    setBytes(null);
    workerTraining
      .script((doing) => !mine.signal.aborted && setSaid({ doing }), mine.signal)
      .then(
        ({ script, bytes: sent }) => {
          if (mine.signal.aborted) return;
          setSaid({ text: script });
          setBytes(sent);
        },
        (error: unknown) => {
          if (!mine.signal.aborted && !isAbort(error)) setSaid({ doing: describeFault(error) });
        },
      );
    return () => mine.abort();
  }, [open, key]);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} data-testid="launch-script">
      <summary>Script to read or run by hand</summary>
      {!isReady ? (
        <p className="note">The config is not complete yet.</p>
      ) : "text" in said ? (
        <>
          <CopyText text={said.text} label="the script" />
          <p className="note">
            It does what a launch does and needs only gcopd on the target.
            {bytes !== null && bytes > 0 && ` ${gibibytes(bytes)} go with the run.`}
          </p>
        </>
      ) : (
        <p className="note" role="status">
          {said.doing}
        </p>
      )}
    </details>
  );
}
