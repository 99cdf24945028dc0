import { describe, expect, it } from "vitest";
import { ChangeCollector, KEPT_ROWS, POSITIONS, type ScoredDecision } from "./change-collector.ts";

function decision(at: number, deltas: number[], argmax: ScoredDecision["argmax"] = null): ScoredDecision {
  return {
    episode: "e",
    decision: at,
    ids: deltas.map((_, i) => i),
    pieces: deltas.map((_, i) => `t${i}`),
    vanilla: new Float32Array(deltas.length).fill(-1),
    graph: Float32Array.from(deltas, (delta) => -1 + delta),
    argmax,
  };
}

describe("ChangeCollector", () => {
  it("has the largest changes first, of either sign, and figures of all tokens", () => {
    const collector = new ChangeCollector();
    collector.add(decision(0, [0.5, -2]));
    collector.add(decision(1, [1, 0.25, 0.125]));
    expect(collector.rows().map((row) => [row.decision, row.position])).toEqual([
      [0, 1],
      [1, 0],
      [0, 0],
      [1, 1],
      [1, 2],
    ]);
    expect(collector.figures()).toEqual({
      decisions: 2,
      tokens: 5,
      sum: -0.125,
      absolute: 3.875,
      flips: null,
      meanByPosition: [0.75, -0.875, 0.125],
      countByPosition: [2, 2, 1],
    });
  });
  it("counts flips where they are known", () => {
    const collector = new ChangeCollector();
    const argmax = { vanilla: Uint32Array.of(1, 2), graph: Uint32Array.of(1, 3) };
    collector.add(decision(0, [0, 1], argmax));
    expect(collector.figures().flips).toBe(1);
    expect(collector.rows().map(({ flips }) => flips)).toEqual([true, false]);
    collector.add(decision(1, [0]));
    expect(collector.figures().flips).toBeNull();
  });
  it("keeps a bounded number of tokens and counts all of them", () => {
    const collector = new ChangeCollector();
    const each = 5000;
    for (let d = 0; d < 12; d++)
      collector.add(
        decision(
          d,
          Array.from({ length: each }, (_, i) => (i + d / 16) / 8192),
        ),
      );
    const rows = collector.rows();
    expect(rows).toHaveLength(KEPT_ROWS);
    expect([rows[0]!.decision, rows[0]!.position]).toEqual([11, each - 1]);
    const { tokens, meanByPosition, countByPosition } = collector.figures();
    expect(tokens).toBe(12 * each);
    expect(meanByPosition).toHaveLength(POSITIONS);
    expect(countByPosition.at(-1)).toBe(12 * (each - POSITIONS + 1));
  });
});
