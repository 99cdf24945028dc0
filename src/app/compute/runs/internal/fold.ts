/** Events into figures: one pure function for runs of the page and of the worker. */
import { spentWords } from "../../../../core/loop/budget.ts";
import type { LoopEvent } from "../../../../protocol/loop-event.ts";
import { type Figures, type Mark, NOTHING_PENDING, type RunPoint } from "../run.ts";

/** An event and when it came, in ISO 8601, where that is known. */
export type TimedEvent = LoopEvent & { time?: string | null };

type Start = Extract<LoopEvent, { type: "start" }>;

/** The figures after one more event. Steps that a run takes again, after a checkpoint, replace what they were before. */
export function foldEvent(figures: Figures, event: TimedEvent): Figures {
  return foldEvents(figures, [event]);
}

/** The same for events in their order. */
export function foldEvents(figures: Figures, events: readonly TimedEvent[]): Figures {
  // One copy for all: a copy a step would make the work grow with the square of the steps.
  let folded = { ...figures, points: [...figures.points] };
  for (const event of events) folded = foldInto(folded, event);
  return folded;
}

/** Adds to the points in place. */
function foldInto(figures: Figures, event: TimedEvent): Figures {
  const at = event.time ?? null;
  switch (event.type) {
    case "start": {
      const from = event.resumedFrom ?? event.parent?.step ?? 0;
      // The event itself says so: a page that was closed early may not have kept the first start.
      const again = event.resumedFrom !== null || figures.start !== null;
      const kept = backTo(figures, from);
      const marks = again
        ? [...kept.marks, { step: from, kind: "resumed" as const, text: `went on after step ${from}`, at }]
        : kept.marks;
      return { ...kept, marks, total: event.steps, done: from, start: begun(event, figures), work: null };
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
      return { ...figures, stages, epoch: { batches: event.batches, repeating: event.repeating ?? 0 } };
    }
    case "step":
      return { ...figures, work: null, pending: NOTHING_PENDING };
    case "rollout": {
      const success = event.episodes === 0 ? null : event.successes / event.episodes;
      return { ...figures, pending: { ...figures.pending, success } };
    }
    case "excluded": {
      const { step, of, steps: total } = event;
      const episodes = event.episodes.length;
      const noTurn = event.episodes.filter((each) => each.noTurn).length;
      return {
        ...figures,
        total,
        excluded: [...figures.excluded, { step, episodes, noTurn, whole: episodes === of }],
      };
    }
    case "scored": {
      const { contextTokens: teacherTokens, seconds, rolloutPolicy = null } = event;
      const teacherSeconds = numberOf(seconds);
      return { ...figures, pending: { ...figures.pending, teacherTokens, teacherSeconds, rolloutPolicy } };
    }
    case "updated":
      return withPoint(figures, event);
    case "evaluated": {
      const { type: _, time: __, ...evaluation } = event;
      return {
        ...figures,
        work: null,
        evaluations: [...upTo(figures.evaluations, event.step - 1), evaluation],
      };
    }
    case "held-out": {
      const { step, decisions } = event;
      return { ...figures, heldOut: [...upTo(figures.heldOut, step - 1), { step, decisions }] };
    }
    case "fault": {
      const kept = backTo(figures, event.step);
      return {
        ...kept,
        done: event.step,
        marks: [...kept.marks, { step: event.step, kind: "fault", text: faultText(event), at }],
      };
    }
    case "damaged": {
      const text = `${event.checkpoint} is damaged (${event.reason}): went on from the one before`;
      return { ...figures, marks: [...figures.marks, { step: event.step, kind: "fault", text, at }] };
    }
    case "stopped": {
      const { step, budget } = event;
      const kept = { ...figures, done: step, work: null };
      return budget === undefined
        ? kept
        : {
            ...kept,
            marks: [
              ...kept.marks,
              { step, kind: "budget", text: `ended by its budget: ${spentWords(budget)}`, at },
            ],
          };
    }
    case "done":
      return { ...figures, done: event.step, work: null };
    case "work": {
      const { what, done, total, unit } = event;
      return { ...figures, work: { what, done, total, unit } };
    }
    case "checkpoint":
      return { ...figures, work: null };
    case "bridged":
      return figures;
  }
}

function withPoint(figures: Figures, event: Extract<LoopEvent, { type: "updated" }>): Figures {
  const { metrics, step, stage, seconds, tokensPerSecond } = event;
  const point: RunPoint = {
    step,
    stage,
    loss: numberOf(metrics.loss),
    gradNorm: numberOf(metrics.gradNorm),
    clipFraction: numberOf(metrics.clipFraction),
    meanAdvantage: numberOf(metrics.meanAdvantage),
    rolloutKl: numberOf(metrics.rolloutKl),
    alignment: numberOf(metrics.alignment),
    tokens: metrics.tokens,
    studentTokens: metrics.sequenceTokens ?? 0,
    ...figures.pending,
    seconds: numberOf(seconds),
    tokensPerSecond: numberOf(tokensPerSecond),
  };
  const points = upTo(figures.points, step - 1);
  points.push(point);
  return { ...figures, points, done: step };
}

/** A run that goes on reads its student from a checkpoint, whose folder says nothing: it is called as it was first. */
function begun(event: Start, { start: first }: Figures): Start {
  if (event.resumedFrom === null || first === null) return event;
  return { ...event, student: { ...event.student, model: first.student.model } };
}

/** What JSON could not write as a number was none. */
const numberOf = (value: number | null): number => value ?? Number.NaN;

function backTo(figures: Figures, step: number): Figures {
  return {
    ...figures,
    points: upTo(figures.points, step),
    // The one of the step itself is sent again.
    evaluations: upTo(figures.evaluations, step - 1),
    heldOut: upTo(figures.heldOut, step),
    excluded: upTo(figures.excluded, step),
  };
}

/** What came up to a step; the same array where nothing came after it. Steps rise, so the last one decides. */
function upTo<T extends { step: number }>(all: T[], step: number): T[] {
  const last = all.at(-1);
  return last === undefined || last.step <= step ? all : all.filter((each) => each.step <= step);
}

/** "device failed (1 of 3): …": the faults since the last step, of those that are tolerated. */
function faultText({ message, attempt, attempts }: Extract<LoopEvent, { type: "fault" }>): string {
  const which = attempt === undefined || attempts === undefined ? "" : ` (${attempt} of ${attempts})`;
  return `device failed${which}: ${message}`;
}

/** A mark where the connection to a run's events was lost and found again. */
export function withGap(figures: Figures, from: Date, to: Date): Figures {
  const time = (date: Date) => date.toISOString().slice(11, 19);
  const text = `not connected ${time(from)} to ${time(to)} UTC; its events were read afterwards`;
  return withMark(figures, { kind: "gap", text, at: null });
}

/** A mark after the steps so far. */
export function withMark(figures: Figures, mark: Omit<Mark, "step">): Figures {
  return { ...figures, marks: [...figures.marks, { step: figures.done, ...mark }] };
}

/** A mark where an event came that this page cannot read; the first of a run says it for all. */
export function withUnread(figures: Figures, problem: string): Figures {
  if (figures.marks.some(({ kind }) => kind === "unread")) return figures;
  const text = `an event that this page cannot read, of another version perhaps, is not shown (${problem})`;
  return withMark(figures, { kind: "unread", text, at: null });
}
