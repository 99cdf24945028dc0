/** What the run will cost, before it starts: decisions, tokens, memory, and time as a range. */
import { useEffect } from "react";
import { countOf } from "../../../core/plural.ts";
import { gibibytes } from "../../../tensor/memory-plan.ts";
import { formatRange } from "../../base/eta.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { MemoryNote } from "../../compute/models/memory-note.tsx";
import { useTargets } from "../../compute/runs/launches.ts";
import { speedKey, timeExpected } from "../../compute/runs/run-time.ts";
import { useRuns } from "../../compute/runs/runs-store.ts";
import type { ProbedCall, WorkerTime } from "../../compute/runs/worker-answers.ts";
import { useUi } from "../../compute/store.ts";
import type { ComposedConfig } from "../../compute/training/training-config.ts";
import { responsesOf, useTrainingForm } from "../../compute/training/training-form.ts";
import { useSending } from "../../compute/training/worker-training.ts";
import { LaunchPlan } from "./launch-plan.tsx";
import { probeKey, trainingProbe, usePageProbe } from "./training-probe.ts";
import { costKey, useWorkerCost, workerCost } from "./worker-cost.ts";

export function Cost({ composed }: { composed: ComposedConfig }) {
  const where = useTrainingForm((form) => form.where);
  return where === "page" ? <PageCost composed={composed} /> : <WorkerCost composed={composed} />;
}

function PageCost({ composed }: { composed: ComposedConfig }) {
  const work = useSending((state) => state.work);
  const probe = usePageProbe();
  const canProbe = useTrainingForm((form) => responsesOf(form) === "recorded");
  const busy = useUi(isModelAtWork);
  return (
    <>
      {work !== null && (
        <div>
          <Counts
            work={work}
            composed={composed}
            where="page"
            probed={probe.of === probeKey(composed.written) ? (probe.time ?? undefined) : undefined}
          />
          {canProbe && (
            <span className="cost-actions">
              <button
                type="button"
                disabled={busy || composed.config === null}
                onClick={() => void trainingProbe.start()}
              >
                Probe the time
              </button>
              <span className="note">
                A few decisions are scored, and stepped on with a copy of the student: yours stays as it is.
              </span>
            </span>
          )}
        </div>
      )}
      <MemoryNote workload="train" />
    </>
  );
}

interface Work {
  episodes: number;
  decisions: number;
  epochs: number;
  teacherTokens: number | null;
  studentTokens: number | null;
}

function Counts({
  work,
  composed,
  where,
  probed,
}: {
  work: Work;
  composed: ComposedConfig;
  where: "page" | "worker";
  /** Undefined where none was taken of this config; null where it could not be. */
  probed: WorkerTime | null | undefined;
}) {
  const runs = useRuns((state) => state.runs);
  const key = speedKey({ where, config: composed.written });
  const alike = Object.values(runs).filter((run) => speedKey(run) === key);
  const time = timeExpected(work, alike);
  const tokens = (count: number | null): string =>
    count === null ? "as many tokens as will be drawn" : countOf(count, "token");
  return (
    <p className="cost-line" data-testid="cost">
      {work.teacherTokens === null
        ? `${countOf(work.episodes, "episode")} to play`
        : countOf(work.decisions, "decision")}
      , {countOf(work.epochs, "pass")}: the teacher reads <strong>{tokens(work.teacherTokens)}</strong>, the
      student <strong>{tokens(work.studentTokens)}</strong>. Time:{" "}
      {probed ? (
        <>
          <strong data-measured>{formatRange(probed)}</strong>, checkpoints not counted, by a probe:{" "}
          <span data-measured>{probeWords(probed)}</span>
        </>
      ) : time !== null ? (
        <>
          <strong data-measured>{formatRange(time)}</strong>, by the fastest and the slowest of{" "}
          {countOf(time.steps, "earlier step")} of these models
        </>
      ) : work.teacherTokens === null ? (
        "not known: the responses have not been drawn yet"
      ) : (
        "not known until these models have taken a step or a probe here"
      )}
      .
    </p>
  );
}

/** "the teacher read 453 tokens in 1.9 s and 2,010 in 7.7 s, the student took steps on …": what a probe measured. */
function probeWords({ teacher, student }: WorkerTime): string {
  const calls = (of: readonly ProbedCall[]): string =>
    of
      .map(({ tokens, seconds }) => `${tokens.toLocaleString("en")} tokens in ${secondsText(seconds)}`)
      .join(", ");
  return `the teacher read ${calls(teacher)}; the student took a step on ${calls(student)}`;
}

const secondsText = (seconds: number): string =>
  seconds < 1 ? `${Math.max(1, Math.round(1000 * seconds))} ms` : `${seconds.toFixed(1)} s`;

/** Models and data whose files only the target has. */
const onTarget = (written: Record<string, unknown>): boolean => /"target:/.test(JSON.stringify(written));

function WorkerCost({ composed }: { composed: ComposedConfig }) {
  const where = useTrainingForm((form) => form.where);
  const name = useTrainingForm((form) => form.target);
  const target = useTargets(({ targets }) => targets[name]);
  const canMeasure = composed.config !== null && (where === "worker" || !onTarget(composed.written));
  // Only on this machine is the worker's time the target's.
  const canProbe = where === "worker" || (target?.host === undefined && target?.scheduler === "none");
  const key = costKey(composed.written);
  const { of, plan: here, there, problem, doing } = useWorkerCost();
  const plan = there?.plan ?? here;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is measured is of one config
  useEffect(() => () => workerCost.cancel(), [key]);
  const own = of === key;
  return (
    <div className="worker-cost" data-testid="worker-cost">
      {doing === null ? (
        <span className="cost-actions">
          <button type="button" disabled={!canMeasure} onClick={() => void workerCost.onWorker(false)}>
            Estimate the cost
          </button>
          {canProbe && (
            <button type="button" disabled={!canMeasure} onClick={() => void workerCost.onWorker(true)}>
              Probe the time too
            </button>
          )}
          {where === "target" && (
            <button
              type="button"
              disabled={composed.config === null}
              onClick={() => void workerCost.onTarget()}
            >
              Measure on the target
            </button>
          )}
          {where === "target" && onTarget(composed.written) && (
            <span className="note">
              Files on the target cannot be read here: only the target can measure tokens, memory and time.
            </span>
          )}
        </span>
      ) : (
        <span role="status">
          {doing}…{" "}
          <button type="button" onClick={() => workerCost.cancel()}>
            Cancel
          </button>
        </span>
      )}
      {where === "target" && (
        <LaunchPlan
          composed={composed}
          plan={own ? plan : null}
          measuredThere={own && there !== null ? there.at : null}
        />
      )}
      {own && plan !== null && where === "worker" && (
        <>
          <Counts
            where="worker"
            composed={composed}
            probed={plan.time}
            work={{
              ...plan.work,
              teacherTokens: plan.work.teacher_tokens,
              studentTokens: plan.work.student_tokens,
            }}
          />
          <p className="cost-line">
            {countOf(plan.work.steps, "step")}; memory about <strong>{gibibytes(plan.total)}</strong> on{" "}
            {shownName(plan.device.adapter ?? plan.device.kind)}:{" "}
            {plan.items.map(({ name, bytes }) => `${name} ${gibibytes(bytes)}`).join(", ")}.
          </p>
        </>
      )}
      {own && plan !== null && plan.problem !== null && (
        <p className="fault" role="alert">
          {shownName(plan.problem, 1000)}
        </p>
      )}
      {own && problem !== null && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
