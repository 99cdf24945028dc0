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
  readonly id: string;
  /** The matching key (see `matchingKey`). */
  key: string;
  /** The locator as the first of its visits recorded it. */
  state: State;
  /** I_x(z), places in `TaskGraph.visits`, in the order of the sources and of their positions. */
  visits: number[];
  /** Distinct sources among them, places in `TaskGraph.sources`. A state is shared when there are two or more. */
  readonly sources: number[];
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
  readonly visits: Visit[];
  /** Place in `visits` of (r, 0) for each source r. Visit (r, j) is `visits[offsets[r] + j]`. */
  offsets: number[];
  /** V_x. */
  nodes: GraphNode[];
  /** E_x. */
  readonly edges: GraphEdge[];
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
  const offsets: number[] = [];
  let count = 0;
  for (const source of sources) {
    if (source.environment !== environment || source.task !== task) {
      throw new InputError(
        `source ${source.source} is of task ${source.environment}/${source.task}, expected ${environment}/${task}`,
      );
    }
    if (ids.has(source.source)) throw new InputError(`task ${task} has two sources named ${source.source}`);
    ids.add(source.source);
    offsets.push(count);
    count += source.decisions.length + 1;
  }

  const nodes: LocatedNode[] = [];
  const index = new Map<string, number>();
  /** By visit: the place of its node, or -1 for ⊥. */
  const projection = new Int32Array(count).fill(-1);
  let visit = 0;
  const project = (state: State | null): void => {
    const key = matchingKey(state);
    if (key !== null && state !== null) {
      let node = index.get(key);
      if (node === undefined) {
        node = nodes.length;
        index.set(key, node);
        nodes.push(new LocatedNode(node, key, state, offsets));
      }
      projection[visit] = node;
      nodes[node]!.visits.push(visit);
    }
    visit++;
  };
  for (const { decisions, final_state } of sources) {
    for (const { state } of decisions) project(state);
    project(final_state);
  }

  // Retrieval goes by the nodes alone: visits and edges are put together when somebody looks at them.
  let visits: Visit[] | undefined;
  let edges: GraphEdge[] | undefined;
  return {
    environment,
    task,
    sources,
    get visits() {
      visits ??= allVisits(sources, projection);
      return visits;
    },
    offsets,
    nodes,
    get edges() {
      edges ??= projectedEdges(this.visits, nodes.length);
      return edges;
    },
    index,
  };
}

/** A node that tells its id and its sources when it is asked. */
class LocatedNode implements GraphNode {
  readonly visits: number[] = [];
  #sources: number[] | undefined;

  constructor(
    readonly place: number,
    readonly key: string,
    readonly state: State,
    readonly offsets: readonly number[],
  ) {}

  get id(): string {
    return `N${this.place}`;
  }

  get sources(): number[] {
    this.#sources ??= [...new Set(placesOf(this.visits, this.offsets, (source) => source))];
    return this.#sources;
  }
}

/** Maps visits, given in order, to what their source and position say. */
export function placesOf<T>(
  visits: readonly number[],
  offsets: readonly number[],
  of: (source: number, position: number) => T,
): T[] {
  let source = 0;
  return visits.map((visit) => {
    while (source + 1 < offsets.length && offsets[source + 1]! <= visit) source++;
    return of(source, visit - offsets[source]!);
  });
}

function allVisits(sources: readonly Source[], projection: Int32Array): Visit[] {
  const visits: Visit[] = [];
  sources.forEach(({ decisions }, source) => {
    for (let position = 0; position <= decisions.length; position++) {
      const node = projection[visits.length]!;
      visits.push({
        source,
        position,
        terminal: position === decisions.length,
        node: node < 0 ? null : node,
      });
    }
  });
  return visits;
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
