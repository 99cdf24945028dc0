import { describe, expect, it } from "vitest";
import {
  composeLiveRun,
  type LiveRunField,
  type LiveRunForm,
  standardText,
  useLiveRunForm,
} from "./live-run-form.ts";

const GAMES = [
  { environment: "alfworld", task: "made/small/pick_and_place_simple-0", type: "pick_and_place_simple" },
  { environment: "alfworld", task: "made/small/look_at_obj_in_light-1", type: "look_at_obj_in_light" },
  { environment: "webshop", task: "made/shop-0/goal0", type: null },
];
const form = (change: Partial<LiveRunForm> = {}): LiveRunForm => ({
  ...useLiveRunForm.getState(),
  ...change,
});
const texts = (change: Partial<LiveRunForm["texts"]>) => ({ ...form().texts, ...change });

describe("the form of a live run", () => {
  it("takes all open games of the environment, and the command line's defaults", () => {
    const { plan, problems, episodes, of } = composeLiveRun(form(), GAMES);
    expect(problems).toEqual({});
    expect(plan).toEqual({
      ...{ kind: "evaluate", role: "student", environment: "alfworld", at_once: 32 },
      ...{ tasks: GAMES.slice(0, 2).map(({ task }) => task), seeds: [0, 1, 2, 3] },
      ...{ max_decisions: undefined, max_tokens: undefined },
      ...{ temperature: undefined, top_p: undefined, top_k: undefined },
    });
    expect([episodes, of]).toEqual([8, 2]);
    expect(composeLiveRun(form({ kind: "collect" }), GAMES)).toMatchObject({
      plan: { repetitions: 16, planner: true },
      episodes: 34,
    });
    const standard = (key: LiveRunField, change: Partial<LiveRunForm> = {}) =>
      standardText(key, form(change));
    expect(standard("environment.max_tokens")).toBe("512");
    expect(standard("seeds")).toBe("0, 1, 2, 3");
    expect([standard("temperature"), standard("top_p"), standard("top_k")]).toEqual(["0.4", "1", "all"]);
  });

  it("chooses by type and words, and reads what was typed", () => {
    const { plan } = composeLiveRun(
      form({
        type: "look_at_obj_in_light",
        words: "SMALL 1",
        texts: texts({
          ...{ seeds: "5, 7,9", at_once: "2", temperature: "0.7", top_p: "0.9", top_k: "5" },
          ...{ "environment.max_decisions": "3", "environment.max_tokens": " 8 " },
        }),
        prompt: { name: "own.json", template: {} },
      }),
      GAMES,
    );
    expect(plan).toMatchObject({
      ...{ tasks: ["made/small/look_at_obj_in_light-1"], seeds: [5, 7, 9] },
      ...{ at_once: 2, max_decisions: 3, max_tokens: 8, temperature: 0.7, top_p: 0.9, top_k: 5 },
      prompt: { name: "own.json", template: {} },
    });
  });

  it.each<[Partial<LiveRunForm>, object]>([
    [{ words: "kitchen" }, { tasks: "no task has this type and these words" }],
    [{ texts: texts({ seeds: "1, 1" }) }, { seeds: "expected each one once" }],
    [{ texts: texts({ seeds: "one" }) }, { seeds: "expected array, received string" }],
    [
      { texts: texts({ temperature: "-1", top_p: "0", top_k: "2.5" }) },
      {
        temperature: "expected at least 0, received -1",
        top_p: "expected more than 0, received 0",
        top_k: "expected integer, received 2.5",
      },
    ],
    [
      { kind: "collect", texts: texts({ repetitions: "0", "environment.max_tokens": "1.5" }) },
      {
        repetitions: "expected at least 1, received 0",
        "environment.max_tokens": "expected integer, received 1.5",
      },
    ],
  ])("says what is wrong: %j", (change, problems) => {
    expect(composeLiveRun(form(change), GAMES)).toMatchObject({ plan: null, episodes: null, problems });
  });

  it("takes the tasks of a list, in its order, and says which are not open", () => {
    const list = (...tasks: string[]) => ({ name: "split.txt", tasks, note: null });
    const [first, second] = GAMES.map(({ task }) => task);
    expect(composeLiveRun(form({ list: list(second!, first!) }), GAMES).plan?.tasks).toEqual([second, first]);
    const { plan, problems, tasks } = composeLiveRun(form({ list: list(second!, "made/x") }), GAMES);
    expect(plan).toBeNull();
    expect(tasks).toEqual([second]);
    expect(problems).toEqual({
      list: `split.txt: no game is named "made/x"; the first of 2 is "${first}"`,
    });
  });

  it("needs an open game", () => {
    expect(composeLiveRun(form({ environment: "webshop" }), GAMES.slice(0, 2)).problems).toEqual({
      tasks: "no game of webshop is open: make or open some on the left",
    });
  });
});
