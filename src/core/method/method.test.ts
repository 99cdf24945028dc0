import { describe, expect, it } from "vitest";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import { isAugmentation, selectSources } from "../retrieval/selection.ts";
import { METHOD_IDS, METHODS, withSelection } from "./index.ts";

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

  it("take the K = 16 sampled records, and planner and oracle records under GC-OPD+GA alone", () => {
    const { sources } = environmentFixture("scienceworld");
    for (const id of METHOD_IDS) {
      const { evidence } = METHODS[id].stages.at(-1)!;
      if (evidence.kind === "none") continue;
      const kept = selectSources(sources, evidence);
      const added = kept.filter(isAugmentation);
      expect(added.length > 0).toBe(id === "gc-opd+ga");
      expect(kept.filter((source) => !isAugmentation(source))).toEqual(
        sources.filter((source) => !isAugmentation(source) && source.repetition < 16),
      );
    }
  });

  it("withSelection touches only the graph-conditioned stages, and only what it is given", () => {
    const changed = withSelection(METHODS["gc-opd"], { control: "success-only", sourcesPerTask: undefined });
    expect(changed.stages.map((stage) => stage.evidence)).toStrictEqual([
      { kind: "none" },
      { kind: "graph-conditioned", control: "success-only", sourcesPerTask: 16, augmentation: false },
    ]);
    expect(withSelection(changed, { sourcesPerTask: 4 }).stages[1]!.evidence).toStrictEqual({
      kind: "graph-conditioned",
      control: "success-only",
      sourcesPerTask: 4,
      augmentation: false,
    });
    expect(METHODS["gc-opd"].stages[1]!.evidence).toMatchObject({ control: "graph", sourcesPerTask: 16 });
  });
});
