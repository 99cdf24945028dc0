import { describe, expect, it } from "vitest";
import { checkTrainConfig } from "./check-train-config.ts";
import { checkExperiment, experimentConfigSchema, methodEntrySchema } from "./experiment-config.ts";
import { type BegunRuns, type ExperimentGrid, experimentGrid } from "./experiment-grid.ts";
import { trainConfigSchema } from "./train-config.ts";

const base = {
  environment: { name: "alfworld", games: "games" },
  teacher: "teacher",
  student: "student",
};
const grid = (methods: object[], more: object = {}, begun?: BegunRuns) =>
  experimentGrid(
    {
      ...experimentConfigSchema.parse({ ...base, ...more }),
      methods: methods.map((method) => methodEntrySchema.parse(method)),
    },
    (name) => `out/${name}`,
    begun,
  );
const runsOf = (...given: Parameters<typeof grid>) =>
  grid(...given).runs.map(({ name, parent, epochs, config }) => ({
    name,
    parent,
    took: epochs,
    epochs: config.epochs,
    first: config.first_epochs,
  }));

describe("experimentGrid", () => {
  it("shares the vanilla epoch of all methods that begin with it, once per seed", () => {
    const methods = [{ id: "opd" }, { id: "gc-opd" }, { id: "success-only" }];
    const { runs, cells, epochs, seeds } = grid(methods, { seeds: [1, 2] });
    expect([epochs, seeds]).toEqual([2, [1, 2]]);
    expect(runsOf(methods, { seeds: [1, 2] }).slice(0, 4)).toEqual([
      { name: "parents/vanilla-seed-1", parent: null, took: 1, epochs: [1], first: undefined },
      // The second vanilla epoch continues the same stage; a stage of evidence begins at its first epoch.
      { name: "cells/opd-seed-1", parent: "parents/vanilla-seed-1", took: 1, epochs: [1], first: [1] },
      {
        name: "cells/gc-opd-seed-1",
        parent: "parents/vanilla-seed-1",
        took: 1,
        epochs: [0, 1],
        first: undefined,
      },
      {
        name: "cells/success-only-seed-1",
        parent: "parents/vanilla-seed-1",
        took: 1,
        epochs: [0, 1],
        first: undefined,
      },
    ]);
    expect(runs.map(({ seed, config }) => [seed, config.seed])).toEqual(
      [1, 1, 1, 1, 2, 2, 2, 2].map((seed) => [seed, seed]),
    );
    expect(runs[1]!.config.parent).toBe("out/parents/vanilla-seed-1");
    expect(cells.map(({ run, parent }) => [run, parent])).toContainEqual([
      "cells/gc-opd-seed-2",
      "parents/vanilla-seed-2",
    ]);
    for (const { config } of runs) checkTrainConfig(config);
  });

  it("does not share a first stage whose schedule runs over all of its updates", () => {
    const names = grid([{ id: "tcod-f2b" }, { id: "deeper", method: "tcod-f2b" }]).runs.map(
      ({ name }) => name,
    );
    expect(names).toEqual(["cells/tcod-f2b-seed-42", "cells/deeper-seed-42"]);
  });

  it("gives a method its whole schedule where nobody begins as it does, or with other settings", () => {
    expect(runsOf([{ id: "gc-opd" }])).toEqual([
      { name: "cells/gc-opd-seed-42", parent: null, took: 2, epochs: undefined, first: undefined },
    ]);
    const other = { id: "slow", method: "gc-opd", settings: { learning_rate: 1e-6 } };
    const runs = runsOf([{ id: "opd" }, { id: "gc-opd" }, other]);
    expect(runs.map(({ name, parent }) => [name, parent])).toEqual([
      ["parents/vanilla-seed-42", null],
      ["cells/opd-seed-42", "parents/vanilla-seed-42"],
      ["cells/gc-opd-seed-42", "parents/vanilla-seed-42"],
      ["cells/slow-seed-42", null],
    ]);
    const slow = grid([other], { train: { settings: { clip: 0.3 } } }).runs[0]!.config;
    expect(slow.settings).toMatchObject({ learning_rate: 1e-6, clip: 0.3, max_grad_norm: 1 });
  });

  it("tells two shared stages of one name apart", () => {
    const slow = (id: string, method: string) => ({ id, method, settings: { learning_rate: 1e-6 } });
    const runs = runsOf([{ id: "opd" }, { id: "gc-opd" }, slow("a", "opd"), slow("b", "gc-opd")]);
    expect(runs.slice(0, 2).map(({ name }) => name)).toEqual([
      "parents/vanilla-seed-42",
      "parents/vanilla-2-seed-42",
    ]);
    expect(runs.at(-1)).toMatchObject({ name: "cells/b-seed-42", parent: "parents/vanilla-2-seed-42" });
  });

  it("takes stages of its own, shares as many epochs as all of them take, and ends no cell inside a parent", () => {
    const none = { kind: "none" };
    const graph = { kind: "graph-conditioned" };
    const stages = (vanilla: number, rest: number) => [
      { name: "warm up", epochs: vanilla, evidence: none },
      { name: "graph", epochs: rest, evidence: graph },
    ];
    const of = (...of: [number, number][]) =>
      runsOf(of.map(([a, b], n) => ({ id: `m${n}`, stages: stages(a, b) })));
    expect(of([3, 1], [2, 2])).toEqual([
      { name: "parents/warm-up-seed-42", parent: null, took: 2, epochs: [2, 0], first: undefined },
      { name: "cells/m0-seed-42", parent: "parents/warm-up-seed-42", took: 2, epochs: [1, 1], first: [2] },
      {
        name: "cells/m1-seed-42",
        parent: "parents/warm-up-seed-42",
        took: 2,
        epochs: [0, 2],
        first: undefined,
      },
    ]);
    expect(of([1, 0], [1, 0]).map(({ parent }) => parent)).toEqual([null, null]);
  });

  it("keeps the checkpoints that are evaluated, and names every evaluation", () => {
    const more = {
      checkpoints: ["final", { every: 5 }],
      evaluations: { seen: { environment: { name: "alfworld", games: "seen" } }, unseen: { seeds: [7] } },
    };
    const { runs, evaluations } = grid([{ id: "opd" }, { id: "gc-opd" }], more);
    expect(new Set(runs.map(({ config }) => config.keep_every))).toEqual(new Set([5]));
    expect(
      evaluations.map(({ name, of }) => [name, of("model").environment.games, of("model").seeds]),
    ).toEqual([
      ["seen", "seen", [0, 1, 2, 3]],
      ["unseen", "games", [7]],
    ]);
    expect(grid([{ id: "opd" }]).runs[0]!.config).not.toHaveProperty("keep_every");
  });

  it("reads a library that is there in place of collecting one", () => {
    const { collect, runs } = grid([{ id: "gc-opd" }], { library: "sources.jsonl.gz" });
    expect(collect).toBeNull();
    expect(runs[0]!.config.library).toBe("sources.jsonl.gz");
    expect(grid([{ id: "gc-opd" }]).runs[0]!.config.library).toBe("out/library/sources.jsonl");
  });

  it.each<[string, object[], object, string]>([
    ["one id twice", [{ id: "opd" }, { id: "opd" }], {}, "methods: opd is named twice"],
    ["budgets that differ", [{ id: "opd" }, { id: "gc-opd", epochs: [1, 2] }], {}, "opd has 2, gc-opd has 3"],
    ["an id that is no method", [{ id: "mine" }], {}, "mine is no known method"],
    ["epochs of no stage", [{ id: "opd", epochs: [1, 1] }], {}, "epochs: 2 entries for 1 stages"],
  ])("refuses %s", (_, methods, more, message) => {
    expect(() => grid(methods, more)).toThrow(message);
  });
});

describe("experimentGrid in a folder that has begun", () => {
  const folder = (...grids: Pick<ExperimentGrid, "runs">[]): BegunRuns => {
    const there = new Map(
      grids.flatMap(({ runs }) => runs.map(({ name, config }) => [name, config] as const)),
    );
    return (name) =>
      trainConfigSchema.safeParse(JSON.parse(JSON.stringify(there.get(name) ?? null))).data ?? null;
  };
  const [opd, graph, only] = [{ id: "opd" }, { id: "gc-opd" }, { id: "success-only" }];
  const slow = (id: string, method: string) => ({ id, method, settings: { learning_rate: 1e-6 } });
  const parentsOf = ({ cells }: ExperimentGrid) => cells.map(({ run, parent }) => [run, parent]);

  it("leaves a cell that began without a parent as it is, and gives the new ones theirs", () => {
    const before = grid([opd]);
    const more = grid([opd, graph], {}, folder(before));
    expect(parentsOf(more)).toEqual([
      ["cells/opd-seed-42", null],
      ["cells/gc-opd-seed-42", "parents/vanilla-seed-42"],
    ]);
    expect(more.runs.find(({ name }) => name === "cells/opd-seed-42")).toEqual(before.runs[0]);
    const most = grid([only, opd, graph], {}, folder(before, more));
    expect(most.runs).toHaveLength(4);
    for (const run of more.runs) expect(most.runs).toContainEqual(run);
    expect(most.cells[0]!.parent).toBe("parents/vanilla-seed-42");
  });

  it("keeps a cell's parent where the other methods that share it are gone, the one that it is named after among them", () => {
    const before = grid([opd, graph, only], { seeds: [1] });
    for (const methods of [[opd], [graph], [only, graph], [graph, opd]]) {
      const fewer = grid(methods, { seeds: [1] }, folder(before));
      expect(fewer.runs).toHaveLength(methods.length + 1);
      for (const run of fewer.runs) expect(before.runs).toContainEqual(run);
    }
    // A seed that is added has the runs of a new folder.
    expect(parentsOf(grid([graph], { seeds: [1, 2] }, folder(before)))).toEqual([
      ["cells/gc-opd-seed-1", "parents/vanilla-seed-1"],
      ["cells/gc-opd-seed-2", null],
    ]);
  });

  it("gives no parent a name that another one has, in whatever order the methods are", () => {
    const methods = [opd, graph, slow("a", "opd"), slow("b", "gc-opd")];
    const before = grid(methods);
    const turned = grid([...methods, only].reverse(), { seeds: [42, 1] }, folder(before));
    for (const run of before.runs) expect(turned.runs).toContainEqual(run);
    for (const seed of [42, 1]) {
      const parentOf = Object.fromEntries(
        turned.cells.filter((cell) => cell.seed === seed).map(({ method, parent }) => [method, parent]),
      );
      expect(parentOf).toEqual({
        ...{ a: `parents/vanilla-2-seed-${seed}`, b: `parents/vanilla-2-seed-${seed}` },
        ...{ opd: `parents/vanilla-seed-${seed}`, "gc-opd": `parents/vanilla-seed-${seed}` },
        "success-only": `parents/vanilla-seed-${seed}`,
      });
    }
  });

  it("gives a method that shares fewer epochs a parent of its own", () => {
    const of = (id: string, vanilla: number) => ({
      id,
      stages: [
        { name: "warm up", epochs: vanilla, evidence: { kind: "none" } },
        { name: "graph", epochs: 4 - vanilla, evidence: { kind: "graph-conditioned" } },
      ],
    });
    const before = grid([of("a", 3), of("b", 2)]);
    const more = grid([of("a", 3), of("b", 2), of("c", 1)], {}, folder(before));
    for (const run of before.runs) expect(more.runs).toContainEqual(run);
    expect(more.runs.find(({ name }) => name === "parents/warm-up-2-seed-42")!.config.epochs).toEqual([1, 0]);
    expect(more.cells.at(-1)!.parent).toBe("parents/warm-up-2-seed-42");
  });

  it("comes to the same runs wherever the writing of their configs ended", () => {
    const before = grid([opd, slow("a", "opd")], { seeds: [1, 2] });
    const methods = [graph, slow("b", "gc-opd"), opd, only, slow("a", "opd")];
    const whole = grid(methods, { seeds: [2, 1, 3] }, folder(before));
    for (let n = 0; n <= whole.runs.length; n += 1) {
      const written = folder(before, { runs: whole.runs.slice(0, n) });
      expect(grid(methods, { seeds: [2, 1, 3] }, written)).toEqual({
        ...whole,
        evaluations: expect.anything(),
      });
    }
  });

  it("takes a config that differs in more for another one", () => {
    const before = folder(grid([opd, graph], { train: { batch_size: 2 } }));
    const { runs } = grid([graph, opd], { train: { batch_size: 3 } }, before);
    // Whoever writes them compares them with those that are there.
    expect(runs.map(({ name, config }) => [name, config.batch_size])).toEqual([
      ["parents/vanilla-seed-42", 3],
      ["cells/gc-opd-seed-42", 3],
      ["cells/opd-seed-42", 3],
    ]);
    const stages = [{ name: "vanilla", epochs: 2, evidence: { kind: "graph-conditioned" } }];
    const [parent] = grid([{ ...opd, stages }, graph], {}, folder(grid([opd, graph]))).runs;
    expect(parent!.config.stages).toMatchObject(stages);
  });

  it("refuses what would choose the best checkpoint among others than in a new folder", () => {
    const best = { checkpoints: ["best"] };
    const alone = folder(grid([opd], best));
    expect(() => grid([opd, graph], best, alone)).toThrow(
      /^checkpoints: "best" .*: cells\/opd-seed-42 began with no parent, and .* a parent of 1 epoch;/,
    );
    const both = folder(grid([opd, graph], best));
    expect(() => grid([graph], best, both)).toThrow("began with a parent of 1 epoch, and");
    expect(grid([opd, graph, only], best, both).runs).toHaveLength(4);
    // These are other configs, which is told elsewhere.
    expect(() => grid([slow("gc-opd", "gc-opd")], best, both)).not.toThrow();
    const longer = [
      { ...opd, epochs: [3] },
      { ...graph, epochs: [2, 1] },
    ];
    expect(() => grid(longer, best, both)).not.toThrow();
  });
});

it.each<[object, string]>([
  [{ seeds: [1] }, "seeds: only applies with `methods`"],
  [
    { methods: ["opd"], train: { stages: [{ name: "a", epochs: 1, evidence: { kind: "none" } }] } },
    "train.stages",
  ],
  [{ methods: ["opd"], checkpoints: ["best"] }, "train.evaluate: missing"],
  [{ methods: ["opd"], checkpoints: [{ every: 1 }, { every: 2 }] }, "checkpoints: expected one `every`"],
])("refuses a config with %j", (more, message) => {
  expect(() => checkExperiment(experimentConfigSchema.parse({ ...base, ...more }))).toThrow(message);
});
