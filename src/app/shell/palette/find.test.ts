import { describe, expect, it } from "vitest";
import { useUi } from "../../compute/store.ts";
import type { LibrarySummary, TaskSummary } from "../../data/model.ts";
import { find } from "./find.ts";
import { recentFirst } from "./recent.ts";

const TASKS = Array.from(
  { length: 3017 },
  (_, place): TaskSummary => ({
    environment: "scienceworld",
    task: `task-${place}|${place % 30}|easy`,
    place,
    description: `Your task is to do thing ${place} in the kitchen.`,
    sources: 17,
    admitted: 17,
    successes: 9,
    failures: 8,
    unknown: 0,
    episodes: 6,
    episodesWon: 2,
    decisions: 120,
  }),
);
const ui = { ...useUi.getState(), library: { tasks: TASKS } as unknown as LibrarySummary };

describe("find", () => {
  it("says how many there are of what it shows", () => {
    const { lines, total } = find(ui, "kitchen");
    expect(total).toBe(TASKS.length);
    expect(lines).toHaveLength(50);
  });
  it("finds actions by a key's purpose, with what is missing", () => {
    const { lines } = find(ui, "score this");
    expect(lines[0]).toMatchObject({ id: "score", blocked: true, detail: "open a student decision first" });
  });
  it("leads to a decision by its number only where there is one", () => {
    expect(find(ui, "4").lines.filter(({ kind }) => kind === "Decision")).toEqual([]);
  });
  it("reads each task of a library a few times for a query, however many there are", () => {
    let reads = 0;
    const counted = TASKS.map(
      (task) =>
        new Proxy(task, {
          get: (target, key, receiver) => {
            reads += 1;
            return Reflect.get(target, key, receiver);
          },
        }),
    );
    const { library } = { ...ui, library: { ...ui.library, tasks: counted } as LibrarySummary };
    const found = (query: string) => find({ ...ui, library }, query).total;
    expect(found("task-")).toBe(TASKS.length);
    expect(reads).toBeGreaterThanOrEqual(TASKS.length);
    expect(reads).toBeLessThan(20 * TASKS.length);
    reads = 0;
    for (const query of ["task-29", "easy kitchen 12"]) expect(found(query)).toBeGreaterThan(0);
    expect(found("zzz")).toBe(0);
    expect(reads).toBeLessThan(3 * 8 * TASKS.length);
  });
});

describe("recentFirst", () => {
  it("puts what was chosen last first, and forgets what is not there", () => {
    const entries = ["a", "b", "c"].map((id) => ({ id }));
    expect(recentFirst(entries, ["c", "gone", "b"]).map(({ id }) => id)).toEqual(["c", "b", "a"]);
  });
});
