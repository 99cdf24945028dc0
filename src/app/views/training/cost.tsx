/** What the run will cost, before it starts: decisions, tokens, memory, and time as a range. */
import { useEffect, useRef, useState } from "react";
import { gibibytes } from "../../../tensor/memory-plan.ts";
import { speedKey, timeExpected } from "../../runs/run-time.ts";
import { useRuns } from "../../runs/runs-store.ts";
import type { WorkerPlan } from "../../runs/worker-client.ts";
import { formatRange } from "../../session/eta.ts";
import { describeFault, isAbort } from "../../session/faults.ts";
import type { ComposedConfig } from "../../session/training-config.ts";
import { useTrainingForm } from "../../session/training-form.ts";
import { planOnWorker, useSending } from "../../session/worker-training.ts";
import { countOf } from "../../shell/plural.ts";
import { MemoryNote } from "../memory-note.tsx";

export function Cost({ composed }: { composed: ComposedConfig }) {
  const where = useTrainingForm((form) => form.where);
  return where === "page" ? <PageCost composed={composed} /> : <WorkerCost composed={composed} />;
}

function PageCost({ composed }: { composed: ComposedConfig }) {
  const work = useSending((state) => state.work);
  return (
    <>
      {work !== null && <Counts work={work} composed={composed} where="page" />}
      <MemoryNote job="train" />
    </>
  );
}

interface Work {
  decisions: number;
  epochs: number;
  teacherTokens: number | null;
  studentTokens: number | null;
}

function Counts({
  work,
  composed,
  where,
}: {
  work: Work;
  composed: ComposedConfig;
  where: "page" | "worker";
}) {
  const runs = useRuns((state) => state.runs);
  const key = speedKey({ where, config: composed.written });
  const alike = Object.values(runs).filter((run) => speedKey(run) === key);
  const time = timeExpected(work, alike);
  const tokens = (count: number | null): string =>
    count === null ? "as many tokens as will be drawn" : countOf(count, "token");
  return (
    <p className="cost-line" data-testid="cost">
      {countOf(work.decisions, "decision")}, {countOf(work.epochs, "pass")}: the teacher reads{" "}
      <strong>{tokens(work.teacherTokens)}</strong>, the student <strong>{tokens(work.studentTokens)}</strong>
      . Time:{" "}
      {time === null ? (
        "not known yet, until a step of these models was taken here"
      ) : (
        <>
          <strong data-measured>{formatRange(time)}</strong>, by the fastest and the slowest of{" "}
          {countOf(time.steps, "earlier step")} of these models
        </>
      )}
      .
    </p>
  );
}

function WorkerCost({ composed }: { composed: ComposedConfig }) {
  const [plan, setPlan] = useState<WorkerPlan | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [doing, setDoing] = useState<string | null>(null);
  const asked = useRef<AbortController | null>(null);
  const of = JSON.stringify(composed.written);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a plan is of one config
  useEffect(() => {
    setPlan(null);
    setProblem(null);
    return () => asked.current?.abort();
  }, [of]);
  const measure = async (): Promise<void> => {
    asked.current?.abort();
    const mine = new AbortController();
    asked.current = mine;
    setProblem(null);
    setDoing("Starting");
    try {
      const found = await planOnWorker(setDoing, mine.signal);
      if (!mine.signal.aborted) setPlan(found);
    } catch (error) {
      if (!mine.signal.aborted && !isAbort(error)) setProblem(describeFault(error));
    } finally {
      if (asked.current === mine) setDoing(null);
    }
  };
  return (
    <div className="worker-cost" data-testid="worker-cost">
      {doing === null ? (
        <button type="button" disabled={composed.config === null} onClick={() => void measure()}>
          Measure what it will cost
        </button>
      ) : (
        <span role="status">
          {doing}…{" "}
          <button
            type="button"
            onClick={() => {
              asked.current?.abort();
              setDoing(null);
            }}
          >
            Cancel
          </button>
        </span>
      )}
      {plan !== null && (
        <>
          <Counts
            where="worker"
            composed={composed}
            work={{
              ...plan.work,
              teacherTokens: plan.work.teacher_tokens,
              studentTokens: plan.work.student_tokens,
            }}
          />
          <p className="cost-line">
            {countOf(plan.work.steps, "step")}; memory about <strong>{gibibytes(plan.total)}</strong> on{" "}
            {plan.device.adapter ?? plan.device.kind}:{" "}
            {plan.items.map(({ name, bytes }) => `${name} ${gibibytes(bytes)}`).join(", ")}.
          </p>
          {plan.problem !== null && (
            <p className="fault" role="alert">
              {plan.problem}
            </p>
          )}
        </>
      )}
      {problem !== null && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
