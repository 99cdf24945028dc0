import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import { isAugmentation, selectSources } from "../retrieval/selection.ts";
import {
  METHOD_IDS,
  METHODS,
  type Method,
  type MethodId,
  methodSchema,
  methodSelection,
  type Stage,
  teacherOf,
  withSelection,
  writtenMethod,
} from "./index.ts";

describe("methods", () => {
  it("all spend the paper's two epochs, and those with teacher evidence continue from the same vanilla epoch", () => {
    for (const id of METHOD_IDS) {
      const method: Method = METHODS[id];
      expect(method.id).toBe(id);
      expect(method.stages.reduce((sum, stage) => sum + stage.epochs, 0)).toBe(2);
      if (methodSelection(method) !== null && method.teacher === undefined)
        expect(method.stages[0]).toEqual(METHODS["gc-opd"].stages[0]);
    }
  });

  it("say whose log-probabilities a run asks for", () => {
    expect(teacherOf(METHODS["gc-opd"])).toBe("named");
    expect(teacherOf(METHODS["self-distillation"])).toBe("student");
    expect(teacherOf(METHODS.grpo)).toBe("none");
    const stages = METHODS["self-distillation"].stages.map((stage) => ({ ...stage, epochs: 0 }));
    expect(teacherOf({ ...METHODS["self-distillation"], stages })).toBe("none");
  });

  it("the paper's methods have the digest of earlier versions: their checkpoints go on", () => {
    const vanilla = (epochs: number) => `{"name":"vanilla","epochs":${epochs},"evidence":{"kind":"none"}}`;
    const second = (name: string, control: string, augmentation = false) =>
      `{"name":"${name}","epochs":1,"evidence":{"kind":"graph-conditioned","control":"${control}","sourcesPerTask":16,` +
      `"augmentation":${augmentation}}}`;
    const stages = (id: MethodId) => JSON.stringify(METHODS[id].stages);
    expect(stages("opd")).toBe(`[${vanilla(2)}]`);
    expect(stages("gc-opd")).toBe(`[${vanilla(1)},${second("graph-conditioned", "graph")}]`);
    expect(stages("gc-opd+ga")).toBe(`[${vanilla(1)},${second("graph-conditioned", "graph", true)}]`);
    for (const id of ["hindsight-only", "success-only", "minimum-prefix"] as const)
      expect(stages(id)).toBe(`[${vanilla(1)},${second(id, id)}]`);
  });

  it("each names its source, and a baseline what is uncertain", () => {
    for (const id of METHOD_IDS) {
      const method: Method = METHODS[id];
      expect(method.source).toBeTruthy();
      const paper = method.source!.startsWith("the GC-OPD paper");
      expect(method.uncertain === undefined).toBe(paper);
    }
  });

  it("docs/methods.md has a row for each, with its source and what is uncertain", () => {
    const text = readFileSync(resolve(import.meta.dirname, "../../../docs/methods.md"), "utf8");
    const rows = [...text.split("\n## ")[0]!.matchAll(/^\| `([a-z0-9+-]+)` \| (.*) \|$/gm)];
    expect(rows.map(([, id]) => id)).toEqual(METHOD_IDS);
    for (const [, id, row] of rows) {
      const method: Method = METHODS[id as MethodId];
      expect(row).toContain(method.source);
      for (const each of method.uncertain ?? []) expect(row).toContain(each);
    }
  });

  it("a method of one's own goes from JSON to the same stages; what is absent stays absent", () => {
    const written = methodSchema.parse({
      name: "mine",
      stages: [
        { name: "a", epochs: 1, evidence: { kind: "none" }, weights: { kind: "episode" } },
        {
          ...{ name: "b", epochs: 2, evidence: { kind: "graph-conditioned" } },
          sampling: { kind: "depth", every: 3 },
          reward: { teacher: { from: 1, to: 0, over: { share: 0.5 } } },
        },
      ],
    });
    const method = writtenMethod(written);
    expect(method.id).toBe("mine");
    expect(JSON.stringify(method.stages[0])).toBe('{"name":"a","epochs":1,"evidence":{"kind":"none"}}');
    expect(method.stages[1]).toStrictEqual({
      ...{ name: "b", epochs: 2, evidence: { kind: "graph-conditioned", control: "graph" } },
      sampling: { kind: "depth", first: 1, every: 3 },
      reward: { of: "success", group: 8, teacher: { from: 1, to: 0, over: { share: 0.5 } }, factor: 1 },
    });
    for (const id of METHOD_IDS) {
      const { source, stages, ...rest }: Method = METHODS[id];
      // Everything but the evidence has the same form in both.
      const own = stages.map(({ evidence: _, ...stage }) => ({ ...stage, evidence: { kind: "none" } }));
      const again = writtenMethod(methodSchema.parse({ name: rest.id, stages: own }));
      expect(again.stages).toStrictEqual(own);
    }
  });

  it("take the K = 16 sampled records, and planner and oracle records under GC-OPD + GA alone", () => {
    const { sources } = environmentFixture("scienceworld");
    for (const id of METHOD_IDS) {
      const { evidence }: Stage = METHODS[id].stages.at(-1)!;
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
