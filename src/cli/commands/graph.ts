import type { Command } from "commander";
import { environmentRules } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import { type GraphStatistics, graphStatistics } from "../../core/graph/statistics.ts";
import { type TaskGraph, taskGraph } from "../../core/graph/task-graph.ts";
import { plainLine } from "../../core/plain-text.ts";
import { admittedSources } from "../../core/retrieval/admission.ts";
import type { IndexedLibrary } from "../../formats/indexed/index.ts";
import { EnvironmentNotes } from "../environment-notes.ts";
import { openIndexedFile } from "../indexed-file.ts";
import { fileLabel, writeOut } from "../io.ts";

interface Options {
  library: string;
  task?: string;
  json?: boolean;
}

export function register(program: Command): void {
  program
    .command("graph")
    .description(
      "States, transitions and shared states of each task's recorded executions, with counts. With --task, also the " +
        "states and edges of that task.",
    )
    .requiredOption("--library <file>", "source records (.jsonl, .jsonl.gz, or - for standard input)")
    .option("--task <id>", "only this task")
    .option("--json", "print JSON: for each task its statistics, states with their visits, and edges")
    .action(run);
}

async function run(options: Options): Promise<void> {
  const file = fileLabel(options.library);
  const { library, close } = await openIndexedFile(options.library, { kind: "source" });
  try {
    const chosen = library.tasks.flatMap(({ task }, place) =>
      options.task === undefined || task === options.task ? [place] : [],
    );
    if (options.task !== undefined && chosen.length === 0) {
      const some = library.tasks.slice(0, 3).map(({ task }) => JSON.stringify(task));
      throw new InputError(
        `no task ${JSON.stringify(options.task)} among ${library.tasks.length}${some.length > 0 ? `: ${some.join(", ")}` : ""}${library.tasks.length > 3 ? ", …" : ""}`,
        { file },
      );
    }
    new EnvironmentNotes().library(
      chosen.map((place) => library.tasks[place]!),
      file,
    );
    const graphs = taskGraphs(library, chosen);
    await writeOut(undefined, options.json ? json(graphs) : text(graphs, options.task !== undefined));
  } finally {
    await close();
  }
}

/** The graphs of what the environments' libraries hold, one at a time; they keep their names where that is nothing. */
async function* taskGraphs(library: IndexedLibrary, places: readonly number[]): AsyncGenerator<TaskGraph> {
  for (const place of places) {
    const { environment, task } = library.tasks[place]!;
    const sources = admittedSources(await library.readTask(place), environmentRules(environment));
    yield taskGraph(sources, { environment, task });
  }
}

async function* json(graphs: AsyncIterable<TaskGraph>): AsyncGenerator<string> {
  yield '{"tasks":[';
  let separator = "\n";
  for await (const graph of graphs) {
    yield `${separator}${JSON.stringify(graphRecord(graph))}`;
    separator = ",\n";
  }
  yield "\n]}\n";
}

/** One task's graph as JSON: states and edges by id, visits by source and position. */
function graphRecord(graph: TaskGraph) {
  const visit = (place: number) => {
    const { source, position } = graph.visits[place]!;
    return { source: graph.sources[source]!.source, position };
  };
  const { environment, task, ...counts } = graphStatistics(graph);
  return {
    environment,
    task,
    statistics: Object.fromEntries(
      Object.entries(counts).map(([name, value]) => [
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value,
      ]),
    ),
    states: graph.nodes.map((node) => ({
      id: node.id,
      state: node.state,
      visits: node.visits.map(visit),
      sources: node.sources.length,
    })),
    edges: graph.edges.map((edge) => ({
      id: edge.id,
      from: graph.nodes[edge.from]!.id,
      to: graph.nodes[edge.to]!.id,
      traversals: edge.transitions.length,
      sources: edge.sources.length,
      transitions: edge.transitions.map(visit),
    })),
  };
}

const COLUMNS: [string, keyof Omit<GraphStatistics, "environment" | "task">][] = [
  ["sources", "sources"],
  ["won", "successes"],
  ["lost", "failures"],
  ["refuted", "refuted"],
  ["untrusted", "untrusted"],
  ["decisions", "decisions"],
  ["visits", "visits"],
  ["located", "locatedVisits"],
  ["states", "states"],
  ["shared", "sharedStates"],
  ["edges", "edges"],
  ["shared edges", "sharedEdges"],
  ["self-loops", "selfLoops"],
];

async function* text(tasks: AsyncIterable<TaskGraph>, detailed: boolean): AsyncGenerator<string> {
  const statistics: GraphStatistics[] = [];
  /** Of the tasks chosen by name: one, or one of each environment that has it. */
  const graphs: TaskGraph[] = [];
  for await (const graph of tasks) {
    statistics.push(graphStatistics(graph));
    if (detailed) graphs.push(graph);
  }
  const rows = statistics.map((counts) => [counts.task, ...COLUMNS.map(([, key]) => String(counts[key]))]);
  if (rows.length > 1) {
    const total = COLUMNS.map(([, key]) => String(statistics.reduce((sum, counts) => sum + counts[key], 0)));
    rows.push(["total", ...total]);
  }
  yield table(["task", ...COLUMNS.map(([name]) => name)], rows);
  for (const graph of graphs) {
    const states = [...graph.nodes].sort((a, b) => b.sources.length - a.sources.length);
    yield `\n${table(
      ["state", "sources", "visits", "mode", "key"],
      states.map((node) => [
        node.id,
        String(node.sources.length),
        String(node.visits.length),
        node.state.mode,
        node.state.key,
      ]),
    )}`;
    const edges = [...graph.edges].sort((a, b) => b.sources.length - a.sources.length);
    yield `\n${table(
      ["edge", "sources", "traversals", "from", "to"],
      edges.map((edge) => [
        edge.id,
        String(edge.sources.length),
        String(edge.transitions.length),
        graph.nodes[edge.from]!.id,
        graph.nodes[edge.to]!.id,
      ]),
    )}`;
  }
}

/** Columns under their names; numbers to the right. */
function table(header: readonly string[], records: readonly string[][]): string {
  // A name is one cell of one row, whatever it holds.
  const rows = records.map((row) => row.map(plainLine));
  const widths = header.map((name, c) =>
    rows.reduce((width, row) => Math.max(width, row[c]!.length), name.length),
  );
  const numeric = header.map((_, c) => rows.length > 0 && rows.every((row) => /^\d+$/.test(row[c]!)));
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, c) => (numeric[c] ? cell.padStart(widths[c]!) : cell.padEnd(widths[c]!)))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}
