/**
 * The state graph's layout: milliseconds for a number of states and edges, and the pairs of edges that cross. Beside it
 * the order in which states were first met, which costs nothing, and d3-force (forces of edges and of repulsion, 300
 * ticks) with the columns held, as a published way to place nodes. `npm run bench -- graph [--states N] [--edges N]`
 */
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { forceLink, forceManyBody, forceSimulation, forceY, type SimulationNodeDatum } from "d3";
import { crossings, layoutColumns } from "../src/app/data/state-graph/internal/graph-layout.ts";
import { taskGraph } from "../src/core/graph/index.ts";
import type { Source } from "../src/core/record/schema.ts";
import { uniforms } from "../src/core/seeded.ts";

const { values } = parseArgs({
  options: {
    states: { type: "string", default: "500" },
    edges: { type: "string", default: "1000" },
    rounds: { type: "string", default: "21" },
  },
});
const ROUNDS = Number(values.rounds);

interface Graph {
  name: string;
  column: number[];
  edges: { from: number; to: number }[];
}

/** Executions that walk from state to state: mostly on, at times to a state met before or into one that is new. */
function walks(states: number, edges: number): Graph {
  const random = uniforms(7);
  const column: number[] = [0];
  const pairs = new Map<string, { from: number; to: number }>();
  const below = (n: number): number => Math.floor(random() * n);
  while (pairs.size < edges) {
    let at = 0;
    for (let step = 1; step <= 40 && pairs.size < edges; step++) {
      const near = column.flatMap((c, state) => (Math.abs(c - step) <= 1 ? [state] : []));
      const fresh = column.length < states && (near.length === 0 || random() < 0.55);
      const to = fresh ? column.push(step) - 1 : near[below(near.length)];
      if (to === undefined) break;
      pairs.set(`${at} ${to}`, { from: at, to });
      at = to;
    }
  }
  return { name: "executions that meet and part", column, edges: [...pairs.values()] };
}

function anyPairs(states: number, edges: number): Graph {
  const random = uniforms(3);
  const column = Array.from({ length: states }, (_, i) => i % 40);
  const below = () => Math.floor(random() * states);
  return {
    name: "edges between any two states",
    column,
    edges: Array.from({ length: edges }, () => ({ from: below(), to: below() })),
  };
}

/** The sample's task with the most edges, columns by the step of the first visit. */
function sample(): Graph {
  const byTask = new Map<string, Source[]>();
  for (const line of gunzipSync(readFileSync("public/sample/sources.jsonl.gz"))
    .toString()
    .trim()
    .split("\n")) {
    const source = JSON.parse(line) as Source;
    byTask.set(source.task, [...(byTask.get(source.task) ?? []), source]);
  }
  const graphs = [...byTask.values()].map((sources) => taskGraph(sources));
  const largest = graphs.reduce((a, b) => (b.edges.length > a.edges.length ? b : a));
  const column = largest.nodes.map(({ visits }) =>
    Math.min(...visits.map((visit) => largest.visits[visit]!.position)),
  );
  return {
    name: `the sample’s ${largest.task}`,
    column,
    edges: largest.edges.map(({ from, to }) => ({ from, to })),
  };
}

/** Rows by d3-force: x stays at the column. */
function byForce({ column, edges }: Graph): number[] {
  interface Node extends SimulationNodeDatum {
    fx: number;
  }
  const nodes: Node[] = column.map((c, i) => ({ fx: c * 17, y: (i % 37) * 15 }));
  forceSimulation(nodes)
    .stop()
    .force("edges", forceLink(edges.map(({ from, to }) => ({ source: from, target: to }))).distance(17))
    .force("apart", forceManyBody().strength(-20))
    .force("middle", forceY(0).strength(0.02))
    .tick(300);
  return nodes.map(({ y }) => y ?? 0);
}

const median = (times: number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1]!;

function timed<T>(rounds: number, work: () => T): { ms: number; result: T } {
  let result = work();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    result = work();
    times.push(performance.now() - began);
  }
  return { ms: median(times), result };
}

const number = (value: number): string => value.toLocaleString("en");
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
console.log("| graph | states | edges | ours | crossings | first met | crossings | d3-force | crossings |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const graph of [
  walks(Number(values.states), Number(values.edges)),
  anyPairs(Number(values.states), Number(values.edges)),
  sample(),
]) {
  const { column, edges } = graph;
  const ours = timed(ROUNDS, () => layoutColumns(column, edges));
  const places = new Map<number, number>();
  const first = column.map((c) => {
    const row = places.get(c) ?? 0;
    places.set(c, row + 1);
    return row;
  });
  const force = timed(3, () => byForce(graph));
  console.log(
    `| ${graph.name.replaceAll("|", "\\|")} | ${number(column.length)} | ${number(edges.length)} | ${ms(ours.ms)} ms | ` +
      `${number(crossings(ours.result, edges))} | – | ${number(crossings({ column, row: first }, edges))} | ` +
      `${ms(force.ms)} ms | ${number(crossings({ column, row: force.result }, edges))} |`,
  );
}
console.log(
  `\nMedians of ${ROUNDS} (d3-force: 3) after a first round. Node ${process.versions.node}, ` +
    `${cpus().length} threads of ${cpus()[0]?.model.trim()}, load average ${loadavg()[0]!.toFixed(1)}.`,
);
