/**
 * The source-preserving execution graph of one task (Section 3.2): source visits and their temporal edges H_x, the
 * projection G_x of Eq. (2) and the index I_x of Eq. (3). Visits keep their source, so a path in H_x never changes
 * execution (Proposition 1) while one node of G_x associates the visits of many.
 */
import { InputError } from "../errors.ts";
import type { Source, State } from "../record/schema.ts";
import { matchingKey } from "./matching-key.ts";

/** v = (r, j): the state before decision j of source r; j = L_r is the terminal visit. */
export interface Visit {
  /** Place of the source in `TaskGraph.sources`. */
  source: number;
  /** j, from 0 to L_r. */
  position: number;
  terminal: boolean;
  /** π_x(v): place of its node in `TaskGraph.nodes`, or null where the capture is unreliable (⊥). */
  node: number | null;
}

/** z ∈ V_x: one locator and the visits that share it. */
export interface GraphNode {
  /** `N0`, `N1`, … in order of first appearance. */
  id: string;
  /** The matching key (see `matchingKey`). */
  key: string;
  /** The locator as the first of its visits recorded it. */
  state: State;
  /** I_x(z), places in `TaskGraph.visits`, in the order of the sources and of their positions. */
  visits: number[];
  /** Distinct sources among them, places in `TaskGraph.sources`. A state is shared when there are two or more. */
  sources: number[];
}

/** An element of E_x: every recorded transition from one locator to another (or to itself). */
export interface GraphEdge {
  /** `E0`, `E1`, … in order of first appearance. */
  id: string;
  /** Places in `TaskGraph.nodes`; equal for a self-loop, a decision that left the locator unchanged. */
  from: number;
  to: number;
  /** The temporal edges of H_x projected here, each named by its first visit; its length counts traversals. */
  transitions: number[];
  /** Distinct sources among them, places in `TaskGraph.sources`; its length counts executions. */
  sources: number[];
}

/** H_x, G_x and I_x of one task. */
export interface TaskGraph {
  /** Both empty strings when there is no source. */
  environment: string;
  task: string;
  sources: readonly Source[];
  /** W_x: all visits, those of one source next to each other and in order of position. */
  visits: Visit[];
  /** Place in `visits` of (r, 0) for each source r. Visit (r, j) is `visits[offsets[r] + j]`. */
  offsets: number[];
  /** V_x. */
  nodes: GraphNode[];
  /** E_x. */
  edges: GraphEdge[];
  /** Matching key → place in `nodes`: the index I_x. */
  index: ReadonlyMap<string, number>;
}

/** The locator before decision j of an execution, or of its end (j = L_r). */
export function stateAt(
  execution: { decisions: readonly { state: State | null }[]; final_state: State | null },
  position: number,
): State | null {
  const decision = execution.decisions[position];
  return decision === undefined ? execution.final_state : decision.state;
}

/**
 * Builds H_x, G_x and I_x from the sources of one task, in time linear in their decisions.
 * Throws `InputError` when the sources are not of one task or two carry the same id.
 */
export function taskGraph(sources: readonly Source[]): TaskGraph {
  const environment = sources[0]?.environment ?? "";
  const task = sources[0]?.task ?? "";
  const ids = new Set<string>();
  const visits: Visit[] = [];
  const offsets: number[] = [];
  const nodes: GraphNode[] = [];
  const index = new Map<string, number>();

  const nodeOf = (state: State | null): number | null => {
    const key = matchingKey(state);
    if (key === null || state === null) return null;
    let node = index.get(key);
    if (node === undefined) {
      node = nodes.length;
      index.set(key, node);
      nodes.push({ id: `N${node}`, key, state, visits: [], sources: [] });
    }
    return node;
  };

  sources.forEach((source, r) => {
    if (source.environment !== environment || source.task !== task) {
      throw new InputError(
        `source ${source.source} is of task ${source.environment}/${source.task}, expected ${environment}/${task}`,
      );
    }
    if (ids.has(source.source)) throw new InputError(`task ${task} has two sources named ${source.source}`);
    ids.add(source.source);
    offsets.push(visits.length);
    const length = source.decisions.length;
    for (let position = 0; position <= length; position++) {
      const node = nodeOf(stateAt(source, position));
      const visit = visits.length;
      visits.push({ source: r, position, terminal: position === length, node });
      if (node === null) continue;
      const entry = nodes[node]!;
      entry.visits.push(visit);
      if (entry.sources.at(-1) !== r) entry.sources.push(r);
    }
  });
  let edges: GraphEdge[] | undefined;
  return {
    environment,
    task,
    sources,
    visits,
    offsets,
    nodes,
    // Retrieval goes by the nodes alone: the edges are put together when somebody looks at them.
    get edges() {
      edges ??= projectedEdges(visits, nodes.length);
      return edges;
    },
    index,
  };
}

/** E_x of Eq. (2): the temporal edges whose two ends have a reliable locator, by the pair of their nodes. */
function projectedEdges(visits: readonly Visit[], nodes: number): GraphEdge[] {
  const edges: GraphEdge[] = [];
  /** By from · nodes + to. */
  const places = new Map<number, number>();
  for (let visit = 1; visit < visits.length; visit++) {
    const { source, position, node: to } = visits[visit]!;
    const from = position === 0 ? null : visits[visit - 1]!.node;
    if (from === null || to === null) continue;
    const pair = from * nodes + to;
    let place = places.get(pair);
    if (place === undefined) {
      place = edges.length;
      places.set(pair, place);
      edges.push({ id: `E${place}`, from, to, transitions: [], sources: [] });
    }
    const edge = edges[place]!;
    edge.transitions.push(visit - 1);
    if (edge.sources.at(-1) !== source) edge.sources.push(source);
  }
  return edges;
}

/** I_x(z) of Eq. (3): the visits that share the locator, empty for ⊥ and for a locator that no source visited. */
export function visitsAt(graph: TaskGraph, state: State | null): Visit[] {
  const node = nodeAt(graph, state);
  return node === null ? [] : node.visits.map((visit) => graph.visits[visit]!);
}

/** The node of G_x that a locator names, or null. */
export function nodeAt(graph: TaskGraph, state: State | null): GraphNode | null {
  const key = matchingKey(state);
  const node = key === null ? undefined : graph.index.get(key);
  return node === undefined ? null : graph.nodes[node]!;
}
