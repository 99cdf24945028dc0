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
  /** Both empty strings when there is no source and none was named. */
  readonly environment: string;
  readonly task: string;
  readonly sources: readonly Source[];
  /** W_x: all visits, those of one source next to each other and in order of position. */
  readonly visits: readonly Visit[];
  /** Place in `visits` of (r, 0) for each source r. Visit (r, j) is `visits[offsets[r] + j]`. */
  readonly offsets: readonly number[];
  /** V_x. */
  readonly nodes: readonly GraphNode[];
  /** E_x. */
  readonly edges: readonly GraphEdge[];
  /** Matching key → place in `nodes`: the index I_x. */
  readonly index: ReadonlyMap<string, number>;
  /** Goes through I_x(z) of the node at a place, in order, without making `nodes` or `visits`. */
  forEachVisit(node: number, each: (source: number, position: number) => void): void;
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
 * Builds H_x, G_x and I_x from the sources of one task, in time linear in their decisions. `named` is the task where
 * there may be no source to say it. Throws `InputError` when the sources are not of one task or two carry the same id.
 */
export function taskGraph(
  sources: readonly Source[],
  named?: { environment: string; task: string },
): TaskGraph {
  const { environment = "", task = "" } = named ?? sources[0] ?? {};
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
  return new LinkedGraph(environment, task, sources, offsets, count);
}

/** No node (⊥), or no further visit. */
const NONE = -1;

/**
 * Retrieval asks for the visits of a few nodes, out of all those of a library: the visits of each node are a linked list
 * in typed arrays. Visits, nodes and edges as objects are put together when somebody looks at them.
 */
class LinkedGraph implements TaskGraph {
  readonly index = new Map<string, number>();
  /** By visit: its source. */
  readonly #sourceOf: Int32Array;
  /** π_x by visit: the place of its node, or NONE for ⊥. */
  readonly #projection: Int32Array;
  /** By visit: the next visit of the same node. */
  readonly #next: Int32Array;
  /** By node: its first visit. */
  readonly #first: number[] = [];
  #visits: Visit[] | undefined;
  #nodes: GraphNode[] | undefined;
  #edges: GraphEdge[] | undefined;

  constructor(
    readonly environment: string,
    readonly task: string,
    readonly sources: readonly Source[],
    readonly offsets: readonly number[],
    count: number,
  ) {
    this.#sourceOf = new Int32Array(count);
    this.#projection = new Int32Array(count);
    this.#next = new Int32Array(count);
    /** By node: the last of its visits so far. */
    const last: number[] = [];
    let visit = 0;
    for (let r = 0; r < sources.length; r++) {
      const { decisions, final_state } = sources[r]!;
      for (let j = 0; j < decisions.length; j++) this.#project(r, visit++, decisions[j]!.state, last);
      this.#project(r, visit++, final_state, last);
    }
  }

  #project(source: number, visit: number, state: State | null, last: number[]): void {
    this.#sourceOf[visit] = source;
    this.#next[visit] = NONE;
    const key = matchingKey(state);
    if (key === null) {
      this.#projection[visit] = NONE;
      return;
    }
    const node = this.index.get(key);
    if (node === undefined) {
      this.#projection[visit] = last.length;
      this.index.set(key, last.length);
      this.#first.push(visit);
      last.push(visit);
    } else {
      this.#projection[visit] = node;
      this.#next[last[node]!] = visit;
      last[node] = visit;
    }
  }

  forEachVisit(node: number, each: (source: number, position: number) => void): void {
    for (let visit = this.#first[node] ?? NONE; visit !== NONE; visit = this.#next[visit]!) {
      const source = this.#sourceOf[visit]!;
      each(source, visit - this.offsets[source]!);
    }
  }

  get visits(): readonly Visit[] {
    this.#visits ??= Array.from(this.#projection, (node, visit): Visit => {
      const source = this.#sourceOf[visit]!;
      const position = visit - this.offsets[source]!;
      const terminal = position === this.sources[source]!.decisions.length;
      return { source, position, terminal, node: node === NONE ? null : node };
    });
    return this.#visits;
  }

  get nodes(): readonly GraphNode[] {
    this.#nodes ??= Array.from(this.index, ([key, place]): GraphNode => {
      const visits: number[] = [];
      const sources: number[] = [];
      let state: State | null = null;
      this.forEachVisit(place, (source, position) => {
        state ??= stateAt(this.sources[source]!, position);
        visits.push(this.offsets[source]! + position);
        if (sources.at(-1) !== source) sources.push(source);
      });
      return { id: `N${place}`, key, state: state!, visits, sources };
    });
    return this.#nodes;
  }

  get edges(): readonly GraphEdge[] {
    this.#edges ??= projectedEdges(this.visits, this.index.size);
    return this.#edges;
  }
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
