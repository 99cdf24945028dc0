import { expect, it } from "vitest";
import { namedFiles } from "../../core/loop/train-config.ts";
import { PAPER_SETTINGS } from "../../core/ports.ts";
import type { FileSummary, LibrarySummary, TaskSummary } from "../model.ts";
import { getRuns, type WorkerState } from "../runs/runs-store.ts";
import { getUi, type UiState } from "../state/store.ts";
import { composeConfig } from "./training-config.ts";
import { choosePreset, presetOf, setText, trainingForm } from "./training-form.ts";

const WORKER: WorkerState = {
  ...getRuns().worker,
  status: "there",
  files: { jobs: "/data/jobs", shared: "/shared/", program: ["gcopd"], environment: {}, sample: null },
};

const TASK: TaskSummary = {
  place: 0,
  environment: "x",
  task: "t",
  description: "",
  sources: 1,
  admitted: 1,
  successes: 1,
  failures: 0,
  episodes: 1,
  episodesWon: 0,
  decisions: 1,
};

/** A library of files that were opened from these paths of the worker's disk. */
function opened(files: readonly [string, FileSummary["kind"]][], disk: readonly string[]): UiState {
  const ui = getUi();
  const library: LibrarySummary = {
    id: "library-1",
    link: { library: "own", disk: [...disk], addresses: [] },
    title: "own",
    origin: "own",
    files: files.map(([name, kind]) => ({ name, kind, records: 1, bytes: 1 })),
    tasks: [],
    columns: {
      counted: 0,
      states: new Int32Array(),
      sharedStates: new Int32Array(),
      matched: new Int32Array(),
      fallback: new Int32Array(),
      problem: null,
    },
    remote: true,
    bytes: 1,
    indices: [],
    notes: [],
    recordedScores: 0,
    imported: null,
    environmentNotes: [],
  };
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
    composed({ ...ui, library: ui.library && { ...ui.library, tasks: [{ ...TASK, episodes }] } }).config;
  const [many, few] = [withEpisodes(66), withEpisodes(5)];
  expect([many?.batch_size, many?.settings.learning_rate]).toEqual([32, PAPER_SETTINGS.learningRate]);
  expect([few?.batch_size, few?.settings.learning_rate]).toEqual([5, PAPER_SETTINGS.learningRate]);
  expect(presetOf(trainingForm())).toBe("paper");
  setText("batch_size", "32");
  expect(presetOf(trainingForm())).toBe("paper");
  choosePreset("sample");
  const sample = withEpisodes(66);
  expect([sample?.batch_size, sample?.settings.learning_rate]).toEqual([4, 1e-4]);
  expect(presetOf(trainingForm())).toBe("sample");
  setText("batch_size", "7");
  expect(presetOf(trainingForm())).toBeNull();
  choosePreset("paper");
  expect(withEpisodes(5)?.batch_size).toBe(5);
});
