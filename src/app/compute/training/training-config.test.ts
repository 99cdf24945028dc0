import { describe, expect, it, vi } from "vitest";
import { librarySummary, taskSummary } from "../../../../test/support/summaries.ts";
import { configuredMethod } from "../../../core/loop/configured-method.ts";
import { namedFiles } from "../../../core/loop/train-config.ts";
import { methodSelection } from "../../../core/method/index.ts";
import { PAPER_SETTINGS } from "../../../core/ports.ts";
import type { FileSummary } from "../../data/model.ts";
import { getRuns, type WorkerState } from "../runs/runs-store.ts";
import { getUi, type UiState } from "../store.ts";
import { composeConfig, liveUnits } from "./training-config.ts";
import {
  choosePreset,
  chooseResponses,
  environmentsAt,
  formStages,
  methodWords,
  presetOf,
  responsesOf,
  setText,
  stageTitle,
  standardSelection,
  trainingForm,
} from "./training-form.ts";

const WORKER: WorkerState = {
  ...getRuns().worker,
  status: "there",
  files: { jobs: "/data/jobs", shared: "/shared/", program: ["gcopd"], environment: {}, sample: null },
};

/** A library of files that were opened from these paths of the worker's disk. */
function opened(files: readonly [string, FileSummary["kind"]][], disk: readonly string[]): UiState {
  const ui = getUi();
  const library = librarySummary({ library: "own", disk: [...disk], addresses: [] }, [], {
    files: files.map(([name, kind]) => ({ name, kind, records: 1, bytes: 1 })),
    remote: true,
  });
  return { ...ui, library, place: { ...ui.place, disk: [...disk] } };
}

const composed = (ui: UiState, where: "worker" | "page" = "worker") =>
  composeConfig({ ...trainingForm(), where, data: "library" }, ui, WORKER);

it("names the files of a library where they lie on the worker's disk, several of a kind as a list", () => {
  const { config, send } = composed(
    opened(
      [
        ["part.jsonl", "sources"],
        ["part.jsonl", "sources"],
        ["episodes.jsonl", "episodes"],
      ],
      ["a/part.jsonl", "b/part.jsonl", "episodes.jsonl"],
    ),
  );
  expect(config?.library).toEqual(["/shared/a/part.jsonl", "/shared/b/part.jsonl"]);
  expect(config?.episodes).toBe("/shared/episodes.jsonl");
  expect(send.records).toBe(false);
});

it("sends what cannot be named: a file of both kinds, a folder, another order", () => {
  const cases: [[string, FileSummary["kind"]][], string[]][] = [
    [
      [
        ["all.jsonl", "sources"],
        ["all.jsonl", "episodes"],
      ],
      ["all.jsonl"],
    ],
    [[["sources.jsonl", "sources"]], ["runs/"]],
    [
      [
        ["s.jsonl", "sources"],
        ["e.jsonl", "episodes"],
      ],
      ["e.jsonl", "s.jsonl"],
    ],
    [
      [
        ["s.jsonl", "sources"],
        ["e.jsonl", "episodes"],
      ],
      [],
    ],
  ];
  for (const [files, disk] of cases) {
    const { config, send } = composed(opened(files, disk));
    expect(send.records).toBe(true);
    expect(namedFiles(config?.library)).toEqual([expect.stringMatching(/\/in\/sources\.jsonl$/)]);
  }
});

it("names the files of a run in the page, so that a command beside them reads the same", () => {
  const files: [string, FileSummary["kind"]][] = [
    ["s.jsonl", "sources"],
    ["e1.jsonl", "episodes"],
    ["e2.jsonl", "episodes"],
  ];
  const { config } = composed(opened(files, []), "page");
  expect([config?.library, config?.episodes]).toEqual(["s.jsonl", ["e1.jsonl", "e2.jsonl"]]);
});

it("takes the paper's batch and learning rate, all episodes where the library has fewer, and a preset's values", () => {
  const ui = opened([["e.jsonl", "episodes"]], []);
  const withEpisodes = (episodes: number) =>
    composed({ ...ui, library: ui.library && { ...ui.library, tasks: [taskSummary("t", 0, { episodes })] } })
      .config;
  const [many, few] = [withEpisodes(66), withEpisodes(5)];
  expect([many?.batch_size, many?.settings.learning_rate]).toEqual([32, PAPER_SETTINGS.learningRate]);
  expect([few?.batch_size, few?.settings.learning_rate]).toEqual([5, PAPER_SETTINGS.learningRate]);
  expect(presetOf(trainingForm())).toBe("gc-opd");
  setText("batch_size", "32");
  expect(presetOf(trainingForm())).toBe("gc-opd");
  choosePreset("sample");
  const sample = withEpisodes(66);
  expect([sample?.batch_size, sample?.settings.learning_rate]).toEqual([4, 1e-4]);
  expect(presetOf(trainingForm())).toBe("sample");
  setText("batch_size", "7");
  expect(presetOf(trainingForm())).toBeNull();
  choosePreset("gc-opd");
  expect(withEpisodes(5)?.batch_size).toBe(5);
});

it("names no teacher where the method's is the student itself", () => {
  const ui = opened(
    [
      ["s.jsonl", "sources"],
      ["e.jsonl", "episodes"],
    ],
    [],
  );
  setText("method", "self-distillation");
  const { config, problems, written, send } = composed(ui);
  expect(problems).toEqual({});
  expect(config?.method).toBe("self-distillation");
  expect(written).not.toHaveProperty("teacher");
  expect(send.teacher).toBe(false);
  expect(formStages(trainingForm()).map(stageTitle)).toEqual(["Graph-conditioned"]);
  setText("method", "gc-opd");
  expect(composed(ui).written).toHaveProperty("teacher");
  expect(formStages(trainingForm()).map(stageTitle)).toEqual(["Vanilla", "Graph-conditioned"]);
});

it("has the evidence of its method, and says what was changed in it", () => {
  const ui = opened([["s.jsonl", "sources"]], []);
  /** What the form shows, what the run does, and how the form describes it. */
  const evidence = (at = ui) => {
    const { config } = composed(at);
    const shown = standardSelection(trainingForm(), at.place);
    return {
      shown,
      taken: config && methodSelection(configuredMethod(config)),
      said: config && methodWords(config),
    };
  };
  const sampled = { sourcesPerTask: 16, augmentation: false };

  choosePreset("gc-opd");
  expect(evidence()).toMatchObject({ shown: sampled, taken: sampled, said: "gc-opd" });
  choosePreset("gc-opd+ga");
  const augmented = { ...sampled, augmentation: true };
  expect(evidence()).toMatchObject({ shown: augmented, taken: augmented, said: "gc-opd+ga" });
  expect(presetOf(trainingForm())).toBe("gc-opd+ga");

  setText("augmentation", "false");
  setText("sources_per_task", "4");
  expect(evidence()).toMatchObject({
    taken: { sourcesPerTask: 4, augmentation: false },
    said: "gc-opd+ga, changed: K = 4 sources per task · without planner and oracle records",
  });
  choosePreset("gc-opd");
  setText("augmentation", "true");
  expect(evidence().said).toBe("gc-opd, changed: with planner and oracle records");

  // What the page asks for holds where the form is silent.
  choosePreset("gc-opd");
  const asked = { ...ui, place: { ...ui.place, control: "hindsight-only", sourcesPerTask: 1 } as const };
  const changed = { control: "hindsight-only", sourcesPerTask: 1, augmentation: false };
  expect(evidence(asked)).toMatchObject({
    shown: changed,
    taken: changed,
    said: "gc-opd, changed: hindsight only · K = 1 source per task",
  });
  setText("control", "graph");
  expect(evidence(asked)).toMatchObject({
    taken: { control: "graph", sourcesPerTask: 1 },
    said: "gc-opd, changed: K = 1 source per task",
  });

  choosePreset("gc-opd");
  setText("method", "opd");
  expect(evidence()).toEqual({ shown: null, taken: null, said: "opd" });
  setText("method", "gc-opd");
  setText(
    "stages",
    '[{"name": "own", "epochs": 1, "evidence": {"kind": "graph-conditioned", "control": "graph"}}]',
  );
  setText("augmentation", "false");
  expect(evidence().said).toBe("stages of your own, changed: without planner and oracle records");
  setText("stages", "");
  choosePreset("gc-opd");
});

it("has the signal that is chosen in all stages", () => {
  setText("signal", "top-k");
  const { config, problems } = composed(
    opened(
      [
        ["all.jsonl", "sources"],
        ["e.jsonl", "episodes"],
      ],
      [],
    ),
  );
  expect(problems).toEqual({});
  expect(configuredMethod(config!).stages.map(({ signal }) => signal)).toEqual(
    Array(2).fill({ kind: "top-k", k: 32 }),
  );
  setText("signal", "");
});

describe("a live run", () => {
  const TEXTS = { method: "gc-opd", environment: "true", "environment.name": "alfworld" };
  const OPEN = [
    { environment: "alfworld", task: "made/small/a-0" },
    { environment: "webshop", task: "made/shop-1/goal0" },
    { environment: "alfworld", task: "made/small/b-1" },
  ];
  const ui = () =>
    opened(
      [
        ["s.jsonl", "sources"],
        ["e.jsonl", "episodes"],
      ],
      [],
    );
  const live = (
    texts: Record<string, string>,
    more: Partial<ReturnType<typeof trainingForm>> = {},
    games: readonly { environment: string; task: string }[] = OPEN,
    worker = WORKER,
  ) =>
    composeConfig(
      { ...trainingForm(), where: "page", ...more, texts: { ...TEXTS, ...texts } },
      ui(),
      worker,
      games,
    );

  it("plays the open games of its environment, without episodes and what is of them", () => {
    const { config, problems } = live({
      limit: "3",
      sample: "",
      "environment.max_decisions": "2",
      "environment.made.count": "9",
      "environment.prompt": "of-the-worker.json",
    });
    expect(problems).toEqual({});
    expect(config).not.toHaveProperty("episodes");
    expect(config).not.toHaveProperty("episode_ids");
    expect(config).not.toHaveProperty("limit");
    expect(config?.library).toBe("s.jsonl");
    expect(config?.environment).toEqual({
      name: "alfworld",
      tasks: ["made/small/a-0", "made/small/b-1"],
      max_decisions: 2,
    });
  });

  it("says what is missing: an open game, a place on the worker's disk", () => {
    expect(live({}, {}, []).problems).toEqual({
      "environment.tasks": "no game of alfworld is open: open or make games in the Play view",
    });
    expect(live({ "environment.tasks": '["made/shop-1/goal0"]' }).problems).toEqual({
      "environment.tasks": 'no game is named "made/shop-1/goal0"; the first of 2 is "made/small/a-0"',
    });
    for (const key of ["environment.tasks", "evaluate.tasks"])
      expect(live({ evaluate: "true", "evaluate.every": "1", [key]: "tasks.txt" }).problems).toEqual({
        [key]: 'expected a JSON list of tasks, received "tasks.txt"; only commands read a file by its name',
      });
    expect(live({}, { where: "worker", games: "files" }).problems).toEqual({
      "environment.games": "missing; alfworld is opened from it, or from environment.made",
    });
    expect(live({ "environment.name": "scienceworld" }, { where: "worker", games: "made" }).problems).toEqual(
      { "environment.simulator": "missing; scienceworld is opened from it" },
    );
  });

  it("plays the worker's ScienceWorld: open tasks in the page, its own simulator on the worker", () => {
    const simulator = { file: "/jars/a.whl", version: "1.2.3", sha256: "", most: 2, open: 0, tasks: [] };
    const name = { "environment.name": "scienceworld" };
    const games = [{ environment: "scienceworld", task: "boil|1|easy" }];
    expect(live(name, {}, games).problems).toEqual({
      "environment.name": expect.stringContaining("start the worker with --simulator PATH"),
    });
    expect(live(name, {}, [], { ...WORKER, simulator }).problems).toEqual({
      "environment.tasks": expect.stringContaining("no game of scienceworld is open"),
    });
    expect(live(name, {}, games, { ...WORKER, simulator }).config?.environment).toEqual({
      ...{ name: "scienceworld", tasks: ["boil|1|easy"] },
    });
    const there = (texts: Record<string, string>) =>
      live({ ...name, ...texts }, { where: "worker" }, [], { ...WORKER, simulator }).config?.environment;
    expect(there({})).toEqual({ name: "scienceworld", simulator: "/jars/a.whl" });
    expect(there({ "environment.simulator": "/b.jar" })?.simulator).toBe("/b.jar");
  });

  it("names made games, with the keys of their environment alone", () => {
    const texts = {
      "environment.made.count": "2",
      "environment.made.seed": "5",
      "environment.made.size": "small",
      "environment.made.products": "7",
    };
    const made = (name: string) =>
      live({ ...texts, "environment.name": name }, { where: "worker", games: "made" }).config?.environment;
    expect(made("alfworld")).toEqual({ name: "alfworld", made: { count: 2, seed: 5, size: "small" } });
    expect(made("webshop")).toEqual({ name: "webshop", made: { count: 2, seed: 5, products: 7 } });
    const world = (size: string) =>
      live(
        { ...texts, "environment.made.size": size, "environment.made.world": "7" },
        { where: "worker", games: "made" },
      ).config?.environment?.made;
    expect(world("mini")).toEqual({ count: 2, seed: 5, size: "mini", world: 7 });
    // The field of a world is there only for games of that size.
    expect(world("small")).toEqual({ count: 2, seed: 5, size: "small" });
    expect(liveUnits(made("alfworld")!)).toBe(2);
    expect(liveUnits(made("webshop")!)).toBe(14);
    const listed = { where: "worker", games: "made" } as const;
    const there = live({ ...texts, "environment.tasks": "/shared/tasks.txt" }, listed).config?.environment;
    expect(there?.tasks).toBe("/shared/tasks.txt");
    expect(liveUnits(there!)).toBeNull();
  });

  it("is measured in its own environment, or in another one", () => {
    const texts = {
      ...{ evaluate: "true", "evaluate.every": "5", "evaluate.seeds": "0, 1" },
      ...{ "evaluate.environment.name": "webshop", "evaluate.environment.made.count": "1" },
      ...{ "evaluate.environment.made.seed": "7", "evaluate.environment.made.size": "small" },
    };
    const common = { every: 5, seeds: [0, 1], at_once: 32 };
    expect(live(texts).config?.evaluate).toEqual(common);
    const alone = live({ ...texts, "evaluate.seeds": "0" }).config?.evaluate;
    expect(alone).toEqual({ ...common, seeds: [0] });
    expect(live({ ...texts, evaluate: "" }).config).not.toHaveProperty("evaluate");
    const environment = { name: "webshop", made: { count: 1, seed: 7 } };
    expect(live({ ...texts, "evaluate.environment": "true" }).config?.evaluate).toEqual({
      ...common,
      environment,
    });
    // A run over recordings plays in no environment of its own.
    const recorded = (more: Record<string, string>, where: "page" | "worker" = "page") =>
      composeConfig(
        { ...trainingForm(), where, data: "library", texts: { method: "opd", ...texts, ...more } },
        ui(),
        WORKER,
        [],
      );
    expect(recorded({}).config?.evaluate).toEqual({ ...common, environment });
    const files = { "evaluate.environment.made": "false", "evaluate.environment.games": "/shop.json" };
    expect(recorded(files, "worker").config?.evaluate).toEqual({
      ...common,
      environment: { name: "webshop", games: "/shop.json" },
    });
    expect(recorded({ "evaluate.environment.made.count": "" }).problems).toHaveProperty([
      "evaluate.environment.made.count",
    ]);
  });

  it("has its own words in the form: how responses are made, and what can be played where", () => {
    chooseResponses("live");
    expect(responsesOf(trainingForm())).toBe("live");
    chooseResponses("sample");
    expect([responsesOf(trainingForm()), trainingForm().texts.environment]).toEqual(["sample", ""]);
    chooseResponses("recorded");
    expect(responsesOf(trainingForm())).toBe("recorded");
    expect(environmentsAt("page", "environment")).toContain("scienceworld");
    expect(environmentsAt("page", "evaluate.environment")).not.toContain("scienceworld");
    expect(environmentsAt("worker", "evaluate.environment")).toContain("scienceworld");
  });
});

it("the form is there again after a reload of its tab, but for the id of the next run", async () => {
  const tab = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => tab.get(key) ?? null,
    setItem: (key: string, value: string) => void tab.set(key, value),
  });
  const visit = async () => {
    vi.resetModules();
    return import("./training-form.ts");
  };
  const before = await visit();
  before.choosePreset("sample");
  before.setTrainingForm({ data: "task", passes: ["3", "0"] });
  const { nextId, ...form } = before.trainingForm();
  const after = await visit();
  expect(after.trainingForm()).toMatchObject(form);
  expect(after.trainingForm().nextId).not.toBe(nextId);
  // As another version of the page may have kept it.
  for (const [key, kept] of tab) tab.set(key, kept.replace('"task"', '"tasks"'));
  expect((await visit()).trainingForm()).toMatchObject({ data: "episode", passes: ["1", "1"] });
  vi.unstubAllGlobals();
});
