import { describe, expect, it } from "vitest";
import { METHOD_IDS, METHODS, withControl } from "./index.ts";

describe("methods", () => {
  it("all spend the paper's two epochs, and all but OPD continue from the same vanilla epoch", () => {
    for (const id of METHOD_IDS) {
      const { stages } = METHODS[id];
      expect(METHODS[id].id).toBe(id);
      expect(stages.reduce((sum, stage) => sum + stage.epochs, 0)).toBe(2);
      expect(stages[0]!.evidence).toEqual({ kind: "none" });
      if (id !== "opd") expect(stages[0]).toEqual(METHODS["gc-opd"].stages[0]);
    }
  });

  it("withControl touches only the graph-conditioned stages", () => {
    const changed = withControl(METHODS["gc-opd"], "success-only");
    expect(changed.stages.map((stage) => stage.evidence)).toEqual([
      { kind: "none" },
      { kind: "graph-conditioned", control: "success-only" },
    ]);
    expect(METHODS["gc-opd"].stages[1]!.evidence).toEqual({ kind: "graph-conditioned", control: "graph" });
  });
});
