/** The library view over a library that is made up here: as many tasks as the address asks for. */
import { createRoot } from "react-dom/client";
import type { TaskSummary } from "../../src/app/model.ts";
import { followUrl } from "../../src/app/place/navigate.ts";
import { setUi } from "../../src/app/state/store.ts";
import { LibraryView } from "../../src/app/views/library/library-view.tsx";
import { uniforms } from "../../src/core/seeded.ts";
import "../../src/app/styles/theme.css";
import "../../src/app/styles/base.css";
import "../../src/app/styles/shell.css";
import "../../src/app/styles/library.css";

const THINGS = ["water", "gallium", "lead", "chocolate", "a red light bulb", "an electric circuit"];
const PLACES = ["kitchen", "foundry", "workshop", "greenhouse", "hallway"];

function madeUp(count: number): TaskSummary[] {
  const random = uniforms(7);
  const below = (n: number): number => Math.floor(random() * n);
  return Array.from({ length: count }, (): number => below(1e9)).map((name, i) => {
    const states = 20 + below(400);
    const decisions = below(300);
    const thing = THINGS[below(THINGS.length)];
    return {
      environment: "scienceworld",
      task: `task-${name.toString(36)}|${i}|easy`,
      description: `Your task is to change the state of matter of ${thing}. First, find it in the ${PLACES[below(PLACES.length)]}.`,
      sources: 16 + below(3),
      successes: below(17),
      failures: below(17),
      states,
      sharedStates: below(states),
      episodes: 1 + below(8),
      episodesWon: below(2),
      decisions,
      matchedDecisions: below(decisions + 1),
    };
  });
}

const count = Number(new URLSearchParams(window.location.search).get("tasks"));
followUrl();
setUi({
  library: {
    title: `${count} tasks`,
    origin: "own",
    files: [],
    tasks: madeUp(count),
    imported: null,
    environmentNotes: [],
  },
});
createRoot(document.getElementById("root")!).render(
  <div className="app">
    <main className="main main-library">
      <LibraryView />
    </main>
  </div>,
);
