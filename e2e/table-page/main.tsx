/** The library view over a library that is made up here: as many tasks as the address asks for. */
import { createRoot } from "react-dom/client";
import { setUi } from "../../src/app/compute/store.ts";
import { emptyColumns } from "../../src/app/data/library/task-columns.ts";
import type { TaskColumns, TaskSummary } from "../../src/app/data/model.ts";
import { placeUrl } from "../../src/app/data/navigate.ts";
import { LibraryView } from "../../src/app/features/library/library-view.tsx";
import { uniforms } from "../../src/core/seeded.ts";
import { librarySummary } from "../../test/support/summaries.ts";
import "../../src/app/base/styles/theme.css";
import "../../src/app/base/styles/base.css";
import "../../src/app/shell/shell.css";
import "../../src/app/features/library/library.css";

const THINGS = ["water", "gallium", "lead", "chocolate", "a red light bulb", "an electric circuit"];
const PLACES = ["kitchen", "foundry", "workshop", "greenhouse", "hallway"];

function madeUp(count: number): { tasks: TaskSummary[]; columns: TaskColumns } {
  const columns = emptyColumns(count);
  const random = uniforms(7);
  const below = (n: number): number => Math.floor(random() * n);
  const names = Array.from({ length: count }, (): number => below(1e9));
  const tasks = names.map((name, i): TaskSummary => {
    const states = 20 + below(400);
    const decisions = below(300);
    const thing = THINGS[below(THINGS.length)];
    columns.states[i] = states;
    columns.sharedStates[i] = below(states);
    columns.matched[i] = below(decisions + 1);
    columns.fallback[i] = below(decisions - columns.matched[i]! + 1);
    return {
      place: i,
      environment: "scienceworld",
      task: `task-${name.toString(36)}|${i}|easy`,
      description: `Your task is to change the state of matter of ${thing}. First, find it in the ${PLACES[below(PLACES.length)]}.`,
      sources: 16 + below(3),
      admitted: 16,
      successes: below(17),
      failures: below(17),
      unknown: 0,
      episodes: 1 + below(8),
      episodesWon: below(2),
      decisions,
    };
  });
  return { tasks, columns: { ...columns, counted: count } };
}

const count = Number(new URLSearchParams(window.location.search).get("tasks"));
const { tasks, columns } = madeUp(count);
placeUrl.follow();
const library = librarySummary({ library: "own", disk: [], addresses: [] }, tasks, {
  title: `${count} tasks`,
  columns,
});
setUi({ libraries: [{ summary: library, columns, imported: null, left: null }], library });
createRoot(document.getElementById("root")!).render(
  <div className="app">
    <main className="main main-library">
      <LibraryView />
    </main>
  </div>,
);
