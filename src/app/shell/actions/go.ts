/** Actions that lead to another view, task or decision. */

import { type Action, aDecisionFurther, aFreeDevice, aLibrary, needs } from "../../compute/action.ts";
import { askEvidenceTest } from "../../compute/gate/run-gate.ts";
import { scoredTasks } from "../../compute/scoring/scored-tasks.ts";
import { getUi, type UiState } from "../../compute/store.ts";
import { chooseVisit, visitMeant } from "../../data/compared-visits.ts";
import { visibleTasks, wholeColumns } from "../../data/library/sort-tasks.ts";
import { goHome, goToDecision, goToTask, navigate } from "../../data/navigate.ts";
import { shownColumns } from "../../data/open-libraries.ts";
import { aScoredFurther, goToScoredFurther } from "../../features/evidence-test/step-decisions.ts";
import type { Place, View } from "../../url/place.ts";
import { selectionOf } from "../../url/what-if.ts";

export const VIEW_TITLES: Record<View, string> = {
  library: "Library",
  task: "Task",
  tokens: "Tokens",
  training: "Training",
  statistics: "Statistics",
  runs: "Runs",
  play: "Play",
  "evidence-test": "Evidence",
};

function view(name: View, keys: readonly string[], words: string): Action {
  const run = (): void => navigate({ view: name }, "push");
  return { id: `view-${name}`, title: VIEW_TITLES[name], group: "Go to", keys, words: `view ${words}`, run };
}

function further(by: 1 | -1, key: string): Action {
  return {
    id: by > 0 ? "next-decision" : "previous-decision",
    title: by > 0 ? "Next decision" : "Previous decision",
    group: "Step",
    keys: [key],
    blocked: (ui) => (ui.place.view === "evidence-test" ? aScoredFurther(by) : aDecisionFurther(by))(ui),
    run: () => {
      const { place } = getUi();
      if (place.view === "evidence-test") goToScoredFurther(by);
      else goToDecision(place.decision + by);
    },
  };
}

/** The task `by` further on in the order of the library's table. */
function taskFurther(ui: UiState, by: 1 | -1) {
  const { library, place, scores } = ui;
  const tasks = visibleTasks(
    library?.tasks ?? [],
    wholeColumns(shownColumns(ui)),
    { ...place, filter: "", show: "all" },
    scoredTasks(scores, { selection: selectionOf(place), endOfTurn: place.endOfTurn }, library?.id ?? null),
  );
  const at = tasks.findIndex(
    ({ task, environment }) => task === place.task && (place.environment ?? environment) === environment,
  );
  return tasks[at < 0 ? 0 : at + by];
}

function otherTask(by: 1 | -1, key: string): Action {
  return {
    id: by > 0 ? "next-task" : "previous-task",
    title: by > 0 ? "Next task" : "Previous task",
    group: "Step",
    keys: [key],
    blocked: needs(aLibrary, (ui) =>
      taskFurther(ui, by) === undefined ? `this is the ${by > 0 ? "last" : "first"} task` : null,
    ),
    run: () => {
      const next = taskFurther(getUi(), by);
      if (next !== undefined) goToTask(next.task, next.environment);
    },
  };
}

const pinned = ({ visit, token, part }: Place): boolean => visit !== null || token !== null || part !== null;

export const GO: readonly Action[] = [
  view("library", ["1"], "tasks home"),
  view("task", ["2"], "matrix graph retrieval evidence inspector"),
  view("tokens", ["3", "t"], "of this decision log-probabilities delta score"),
  view("training", ["4"], "student update"),
  view("statistics", ["5"], "coverage paper figures"),
  view("runs", ["6"], "training curves compare jobs worker"),
  view("play", ["7"], "game live environment episode alfworld webshop hand"),
  view("evidence-test", ["8"], "gate optimal action evidence helps contexts"),
  {
    id: "does-evidence-help",
    title: "Does evidence help?",
    group: "Go to",
    words: "gate miniature world test optimal",
    blocked: aFreeDevice,
    run: askEvidenceTest,
  },
  { id: "home", title: "Library, from the start", group: "Go to", words: "reset clear", run: goHome },
  further(1, "j"),
  further(-1, "k"),
  otherTask(1, "]"),
  otherTask(-1, "["),
  {
    id: "compare-visit",
    title: "Compare this visit with another",
    group: "Step",
    keys: ["v"],
    words: "difference side by side state observation",
    blocked: (ui) => (visitMeant(ui) === null ? "pin a visit or open a decision first" : null),
    run: () => {
      const visit = visitMeant(getUi());
      if (visit !== null) chooseVisit(visit);
    },
  },
  {
    id: "unpin",
    title: "Unpin the visit, the token and the marked evidence",
    group: "Step",
    blocked: ({ place }) => (pinned(place) ? null : "nothing is pinned"),
    run: () => navigate({ visit: null, token: null, part: null }),
  },
];
