/** A task's records as the task view shows them: executions as rows, states as nodes with counts and a layout. */
import { onCycles } from "../../../core/graph/cycles.ts";
import { nodeAt, stateAt, type TaskGraph } from "../../../core/graph/index.ts";
import type { Episode, Source, State } from "../../../core/record/schema.ts";
import { isTrustedSuccess, knownSuccess, reservation } from "../../../core/record/standing.ts";
import type { Cell, Execution, StateModel, TaskModel } from "../model.ts";
import { costColumns, layoutColumns } from "../state-graph/internal/graph-layout.ts";
import { letters } from "./letters.ts";

type Recorded = Source | Episode;

function cells(execution: Recorded, nodeOf: (state: State | null) => number | null): Cell[] {
  return Array.from({ length: execution.decisions.length + 1 }, (_, position): Cell => {
    const decision = execution.decisions[position];
    const state = stateAt(execution, position);
    return {
      state: nodeOf(state),
      located: state !== null,
      action: decision?.action ?? null,
      status: decision?.status ?? "terminal",
      gapBefore: decision?.gap_before ?? false,
    };
  });
}

function row(
  execution: Recorded,
  nodeOf: (state: State | null) => number | null,
): Omit<Execution, "id" | "kind" | "origin"> {
  const { outcome, decisions } = execution;
  return {
    success: knownSuccess(execution),
    complete: outcome.complete,
    verified: outcome.verified,
    reservation:
      execution.format === "gcopd.source.v1"
        ? reservation(execution)
        : outcome.complete
          ? null
          : "it is incomplete",
    score: outcome.score,
    ended: outcome.ended,
    decisions: decisions.length,
    cells: cells(execution, nodeOf),
  };
}

function stateModels(graph: TaskGraph): StateModel[] {
  const models = graph.nodes.map((node): StateModel => {
    const visits = node.visits.map((visit) => graph.visits[visit]!);
    let step = Number.POSITIVE_INFINITY;
    let cost: number | null = null;
    for (const { source: r, position } of visits) {
      step = Math.min(step, position);
      const source = graph.sources[r]!;
      if (!isTrustedSuccess(source)) continue;
      const rest = source.decisions.length - position;
      cost = cost === null ? rest : Math.min(cost, rest);
    }
    return {
      letter: "",
      mode: node.state.mode,
      options: Object.entries(node.state.options),
      visits: visits.length,
      executions: node.sources.length,
      cost,
      step,
    };
  });
  models
    .filter((model) => model.executions > 1)
    .sort((a, b) => a.step - b.step)
    .forEach((model, i) => {
      model.letter = letters(i);
    });
  return models;
}

/** The task view of one task; `graph` is that of its sources, `episodes` those of the same task. */
export function taskModel(
  graph: TaskGraph,
  ref: { environment: string; task: string },
  episodes: readonly Episode[],
): Omit<TaskModel, "library" | "selection" | "leftOut"> {
  const places = new Map(graph.nodes.map((node, place) => [node, place]));
  const nodeOf = (state: State | null): number | null => {
    const node = nodeAt(graph, state);
    return node === null ? null : (places.get(node) ?? null);
  };
  const states = stateModels(graph);
  const cycles = onCycles(states.length, graph.edges);
  const edges = graph.edges.map((edge, i) => ({
    from: edge.from,
    to: edge.to,
    transitions: edge.transitions.length,
    executions: edge.sources.length,
    cycle: cycles[i]!,
  }));
  const byCost = costColumns(states);
  return {
    environment: ref.environment,
    task: ref.task,
    description: graph.sources[0]?.task_description ?? episodes[0]?.task_description ?? "",
    states,
    edges,
    layouts: {
      step: layoutColumns(
        states.map((state) => state.step),
        edges,
      ),
      cost: layoutColumns(byCost.column, edges, byCost.lead),
    },
    sources: graph.sources.map((source) => ({
      id: source.source,
      kind: "source" as const,
      origin: source.origin.kind,
      ...row(source, nodeOf),
    })),
    episodes: episodes.map((episode) => ({
      id: episode.episode,
      kind: "student" as const,
      origin: "student",
      ...row(episode, nodeOf),
    })),
  };
}
