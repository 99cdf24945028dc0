/** The curves of the evidence test: what they are called, where their points lie, and their table. */
import { GATE_CONTEXTS } from "../../../core/gate/index.ts";
import { countOf } from "../../../core/plural.ts";
import { CONTEXT_TITLES } from "./gate-words.ts";
import { SWEEPS, type SweepId, type Swept } from "./run-sweep.ts";
import type { SweepAxis, SweepSeries } from "./sweep-chart.tsx";

interface SweepWords {
  /** After "over", and as a choice. */
  name: string;
  title: string;
  /** What the points of one curve have in common, and what not. */
  caption: string;
  /** Of the figures' files. */
  file: string;
}

export const SWEEP_WORDS: Record<SweepId, SweepWords> = {
  k: {
    name: "K",
    title: "Probability of an optimal action by K",
    caption: "the first K recorded executions of each task",
    file: "evidence-by-k",
  },
  coverage: {
    name: "coverage",
    title: "Probability of an optimal action by coverage",
    caption: "some of the covered tasks, drawn, keep their recorded successes, and the others lose them",
    file: "evidence-by-coverage",
  },
  failures: {
    name: "failures",
    title: "Probability of an optimal action by share of failures",
    caption: "a part of the recorded executions that failed, drawn",
    file: "evidence-by-failures",
  },
};

/** Where each point lies on the axis. */
const placed = ({ sweep, tasks, rows }: Pick<Swept, "sweep" | "tasks" | "rows">): number[] =>
  rows.map(({ value, covered }, n) =>
    sweep === "k" ? n / (rows.length - 1) : sweep === "failures" ? value : tasks === 0 ? 0 : covered / tasks,
  );

const percent = (share: number): string => `${Math.round(100 * share)} %`;

export function sweepAxis(swept: Pick<Swept, "sweep" | "tasks" | "rows">): SweepAxis {
  const { sweep, rows, tasks } = swept;
  const places = placed(swept);
  const row = (at: number) => rows[places.indexOf(at)]!;
  const shares = [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: percent(at) }));
  switch (sweep) {
    case "k":
      return {
        title: "K, sources per task",
        ticks: rows.map(({ value }, n) => ({ at: places[n]!, text: String(value) })),
        spoken: (at) => SWEEPS.k.words(row(at).value),
      };
    case "coverage":
      return {
        title: "tasks with a success",
        ticks: shares,
        spoken: (at) => `${row(at).covered} of ${countOf(tasks, "task")}`,
      };
    case "failures":
      return { title: "failed records kept", ticks: shares, spoken: percent };
  }
}

export function gateSeries(swept: Pick<Swept, "sweep" | "tasks" | "rows">): SweepSeries[] {
  const places = placed(swept);
  return GATE_CONTEXTS.map((context) => ({
    name: CONTEXT_TITLES[context],
    kind: `control-${context}`,
    points: swept.rows.flatMap(({ summary }, n) => {
      const figure = summary?.contexts.find((each) => each.context === context);
      // Draws are nested: two shares with one coverage have the same sources, and the same figures.
      const isNew = n === 0 || places[n] !== places[n - 1];
      return figure === undefined || !isNew ? [] : [{ at: places[n]!, estimate: figure.optimal }];
    }),
  }));
}

export function coverageSeries(swept: Pick<Swept, "sweep" | "tasks" | "rows">): SweepSeries[] {
  const { tasks, rows } = swept;
  const places = placed(swept);
  const points = rows.map(({ covered }, n) => ({
    at: places[n]!,
    estimate: { value: covered / tasks, interval: null },
  }));
  return [{ name: "tasks covered", kind: "control-success-only", points: tasks === 0 ? [] : points }];
}

/** One line per point and context, numbers in full. */
export function sweepCsv({ sweep, tasks, rows }: Pick<Swept, "sweep" | "tasks" | "rows">): string {
  const lines = [`${sweep},tasks,covered,decisions,context,p_optimal,low,high`];
  for (const { value, covered, summary } of rows)
    for (const { context, optimal } of summary?.contexts ?? [])
      lines.push(
        [
          value,
          tasks,
          covered,
          summary!.decisions,
          context,
          optimal.value,
          ...(optimal.interval ?? ["", ""]),
        ].join(","),
      );
  return `${lines.join("\r\n")}\r\n`;
}
