/** From state to state with the arrow keys. */
import type { EdgeModel } from "../../model.ts";
import type { Point } from "./graph-geometry.ts";

export const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] as const;
export type Arrow = (typeof ARROWS)[number];

/**
 * Right follows the edge that most executions took out of the state, left the one that most took into it; where there
 * is none, and up and down, the nearest state that lies that way. The same state where there is nothing further.
 */
export function neighbour(
  from: number,
  arrow: Arrow,
  nodes: readonly (Point | null)[],
  edges: readonly EdgeModel[],
): number {
  if (arrow === "ArrowRight" || arrow === "ArrowLeft") {
    const right = arrow === "ArrowRight";
    let best: EdgeModel | null = null;
    for (const edge of edges) {
      if ((right ? edge.from : edge.to) !== from || edge.from === edge.to) continue;
      // Only edges that go the arrow's way: the other key leads back.
      const along = nodes[edge.to]!.x - nodes[edge.from]!.x;
      if (along <= 0) continue;
      if (best === null || edge.executions > best.executions) best = edge;
    }
    if (best !== null) return right ? best.to : best.from;
  }
  const at = nodes[from];
  if (at == null) return from;
  let nearest = from;
  let least = Number.POSITIVE_INFINITY;
  nodes.forEach((node, state) => {
    if (node === null) return;
    const [dx, dy] = [node.x - at.x, node.y - at.y];
    const ahead = { ArrowRight: dx, ArrowLeft: -dx, ArrowDown: dy, ArrowUp: -dy }[arrow];
    if (ahead <= 0.5) return;
    const aside = arrow === "ArrowRight" || arrow === "ArrowLeft" ? dy : dx;
    const far = ahead + 2.5 * Math.abs(aside);
    if (far < least) {
      least = far;
      nearest = state;
    }
  });
  return nearest;
}
