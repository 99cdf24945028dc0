/** Events into figures: one pure function for runs of the page and of the worker. */
import type { StepWork, TrainEvent } from "../../core/loop/index.ts";
import type { Figures, Mark, RunPoint } from "./run.ts";

type RunEvent = TrainEvent | ({ type: "work" } & StepWork);

/** The figures after one more event. Steps that a run takes again, after a checkpoint, replace what they were before. */
export function foldEvent(figures: Figures, event: RunEvent): Figures {
  switch (event.type) {
    case "start": {
      const from = event.resumedFrom ?? 0;
      const again = figures.start !== null;
      const kept = backTo(figures, from);
      const marks = again
        ? [...kept.marks, { step: from, kind: "resumed" as const, text: `went on after step ${from}` }]
        : kept.marks;
      return { ...kept, marks, total: event.steps, done: from, start: event };
    }
    case "stage": {
      const stages = [...figures.stages];
      stages[event.stage] = { name: event.name, epochs: event.epochs, steps: 0 };
      return { ...figures, stages };
    }
    case "epoch": {
      const stages = [...figures.stages];
      const stage = stages[event.stage];
      if (stage !== undefined) stages[event.stage] = { ...stage, steps: stage.epochs * event.batches };
      return { ...figures, stages };
    }
    case "step":
      return {
        ...figures,
        work: null,
        pending: { teacherTokens: 0, teacherSeconds: 0, success: null },
      };
    case "rollout": {
      const success = event.episodes === 0 ? null : event.successes / event.episodes;
      return { ...figures, pending: { ...figures.pending, success } };
    }
    case "scored": {
      const { contextTokens: teacherTokens, seconds: teacherSeconds } = event;
      return { ...figures, pending: { ...figures.pending, teacherTokens, teacherSeconds } };
    }
    case "updated":
      return withPoint(figures, event);
    case "fault": {
      const kept = backTo(figures, event.step);
      return { ...kept, done: event.step, marks: [...kept.marks, fault(event)] };
    }
    case "stopped":
      return { ...figures, done: event.step, work: null };
    case "done":
      return { ...figures, done: event.step, work: null };
    case "work": {
      const { what, done, total, unit } = event;
      return { ...figures, work: { what, done, total, unit } };
    }
    case "checkpoint":
      return figures;
  }
}

function withPoint(figures: Figures, event: Extract<TrainEvent, { type: "updated" }>): Figures {
  const { metrics, step, stage, seconds, tokensPerSecond } = event;
  const { loss, gradNorm, clipFraction, meanAdvantage, rolloutKl, alignment, tokens } = metrics;
  const point: RunPoint = {
    step,
    stage,
    loss,
    gradNorm,
    clipFraction,
    meanAdvantage,
    rolloutKl,
    alignment,
    tokens,
    // Runs of an earlier version did not tell it.
    studentTokens: metrics.sequenceTokens ?? 0,
    ...figures.pending,
    seconds,
    tokensPerSecond,
  };
  return { ...backTo(figures, step - 1), points: [...backTo(figures, step - 1).points, point], done: step };
}

function backTo(figures: Figures, step: number): Figures {
  if (figures.points.every((point) => point.step <= step)) return figures;
  return { ...figures, points: figures.points.filter((point) => point.step <= step) };
}

function fault({ step, message }: Extract<TrainEvent, { type: "fault" }>): Mark {
  return { step, kind: "fault", text: `device failed: ${message}` };
}

/** A mark where the connection to a run's events was lost and found again. */
export function withGap(figures: Figures, from: Date, to: Date): Figures {
  const time = (date: Date) => date.toISOString().slice(11, 19);
  const text = `not connected ${time(from)} to ${time(to)} UTC; its events were read afterwards`;
  return { ...figures, marks: [...figures.marks, { step: figures.done, kind: "gap", text }] };
}
