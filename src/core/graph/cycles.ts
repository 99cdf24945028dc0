/**
 * The strongly connected components of a directed graph (Tarjan, 1972), without recursion: a path of any length is
 * followed. Linear in nodes and edges. Returns [nodes] the number of each node's component; numbers follow no order.
 */
export function strongComponents(nodes: number, edges: readonly { from: number; to: number }[]): Int32Array {
  const start = new Int32Array(nodes + 1);
  for (const { from } of edges) start[from + 1]!++;
  for (let node = 0; node < nodes; node++) start[node + 1]! += start[node]!;
  const target = new Int32Array(edges.length);
  const fill = start.slice(0, nodes);
  for (const { from, to } of edges) target[fill[from]!++] = to;

  const UNSEEN = -1;
  const component = new Int32Array(nodes).fill(UNSEEN);
  const order = new Int32Array(nodes).fill(UNSEEN);
  const low = new Int32Array(nodes);
  const next = start.slice(0, nodes);
  const open: number[] = [];
  const path: number[] = [];
  let seen = 0;
  let components = 0;
  const enter = (node: number): void => {
    order[node] = low[node] = seen++;
    open.push(node);
    path.push(node);
  };
  for (let root = 0; root < nodes; root++) {
    if (order[root] !== UNSEEN) continue;
    enter(root);
    while (path.length > 0) {
      const node = path.at(-1)!;
      if (next[node]! < start[node + 1]!) {
        const to = target[next[node]!++]!;
        if (order[to] === UNSEEN) enter(to);
        else if (component[to] === UNSEEN) low[node] = Math.min(low[node]!, order[to]!);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[node]!);
      if (low[node] !== order[node]) continue;
      for (let member = open.pop()!; ; member = open.pop()!) {
        component[member] = components;
        if (member === node) break;
      }
      components++;
    }
  }
  return component;
}

/** [edges] true for an edge that some path closes to a cycle: its ends reach each other. A self-loop is one. */
export function onCycles(nodes: number, edges: readonly { from: number; to: number }[]): boolean[] {
  const component = strongComponents(nodes, edges);
  return edges.map(({ from, to }) => component[from] === component[to]);
}
