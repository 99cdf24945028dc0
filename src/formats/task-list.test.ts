import { describe, expect, it } from "vitest";
import { chosenTasks, namedTasks } from "../core/loop/live-config.ts";
import { readTaskList } from "./task-list.ts";

const read = (text: string, environment: "alfworld" | "scienceworld" | "webshop" = "alfworld") =>
  readTaskList(text, environment, "tasks.txt");
const named = (...given: Parameters<typeof read>) => read(...given).listed.map(({ task }) => task);

describe("a list of tasks", () => {
  it("is one task per line, with blank lines and white space around them", () => {
    expect(read(" boil|1|easy\r\n\r\nmelt|6|easy \n", "scienceworld")).toEqual({
      listed: [
        { task: "boil|1|easy", where: { file: "tasks.txt", line: 1 } },
        { task: "melt|6|easy", where: { file: "tasks.txt", line: 3 } },
      ],
      hasSeeds: false,
    });
  });

  it("is ScienceWorld's released list: a JSON array of names", () => {
    const text = JSON.stringify(["boil|1|easy", "boil|5|easy"], null, 2);
    expect(named(text, "scienceworld")).toEqual(["boil|1|easy", "boil|5|easy"]);
    expect(read(text, "scienceworld").listed[1]!.where).toEqual({ file: "tasks.txt", key: "[1]" });
  });

  it("is ALFWorld's released list, whose request seeds are told of", () => {
    const task = (n: number) => ({
      task_index: n,
      split: "valid_seen",
      gamefile: `valid_seen/look_at_obj_in_light-Bowl-None-DeskLamp-${n}/trial_1/game.tw-pddl`,
      environment_seed: 1000 + n,
      request_seeds: { 0: [1, 2], 1: [3, 4] },
    });
    const text = JSON.stringify({ dataset: "ALFWorld json_2.1.1", tasks: [task(0), task(1)] }, null, 2);
    expect(named(text)).toEqual([task(0).gamefile, task(1).gamefile]);
    expect(read(text).hasSeeds).toBe(true);
    expect(read(text).listed[1]!.where).toEqual({ file: "tasks.txt", key: "tasks[1]" });
  });

  it("is WebShop's released list: numbers of goals, or objects with them", () => {
    expect(named("[0, 17]", "webshop")).toEqual(["goal0", "goal17"]);
    expect(named('{"tasks": [{"goal": 3}, {"gamefile": "goal4", "goal": 4}]}', "webshop")).toEqual([
      "goal3",
      "goal4",
    ]);
  });

  it("is JSON Lines with task, one line or several", () => {
    expect(named('{"task": "a", "note": 1}\n\n{"task": "b"}\n')).toEqual(["a", "b"]);
    expect(named('{"task": "a"}')).toEqual(["a"]);
    expect(read('{"task": "a"}\n{"task": "b"}').listed[1]!.where).toEqual({ file: "tasks.txt", line: 2 });
  });

  it.each([
    ["", "tasks.txt: names no task; expected one task per line, a JSON array or JSON Lines"],
    ["[]", "tasks.txt: names no task"],
    ['{"tasks": []}', "tasks.txt: names no task"],
    ["a\nb\n\na", 'tasks.txt, line 4: "a" is named twice; line 1 has it already'],
    ['["a", "a"]', 'tasks.txt, [1]: "a" is named twice; [0] has it already'],
    ['["a", 12]', "tasks.txt, [1]: expected the name of a task, or an object that has one, received 12"],
    ['["a", ""]', 'tasks.txt, [1]: expected the name of a task, or an object that has one, received ""'],
    ['{"tasks": [["a"]]}', "tasks.txt, tasks[0]: expected the name of a task, or"],
    ['{"tasks": [{"gamefile": 5}]}', "tasks.txt, tasks[0].gamefile: expected string, received number"],
    ['{"task": "a"}\n{"tusk": "b"}', "tasks.txt, line 2: names no task; expected task, gamefile or goal"],
    ['{"task": "a"}\n"b"', "tasks.txt, line 2: expected a JSON object, received string"],
    ['{"task": "a"}\n{"task": 3}', "tasks.txt, line 2, task: expected string, received number"],
    ['["a",', "tasks.txt: not JSON: "],
    ['{"splits": {\n"a": []}}', "tasks.txt, tasks: missing; expected array"],
  ])("%j is refused in one line", (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it("is named by the number of a goal in WebShop alone", () => {
    expect(() => read("[-1]", "webshop")).toThrow(
      "expected the name of a task, the number of a goal, or an object that has one, received -1",
    );
    expect(() => read('[{"goal": 1.5}]', "webshop")).toThrow("[0].goal: expected integer, received 1.5");
  });
});

describe("the tasks of a config", () => {
  it("are all when none are named, and else the named ones in their order", () => {
    expect(chosenTasks({}, ["a", "b"])).toEqual(["a", "b"]);
    expect(chosenTasks({ tasks: ["b", "a"] }, ["a", "b"])).toEqual(["b", "a"]);
  });

  it("are refused where the environment does not have them, at the place that names the first", () => {
    const tasks = ["a", "w", "x", "y", "z"];
    expect(() => chosenTasks({ tasks }, ["a", "b"])).toThrow(
      'environment.tasks: no game is named "w", "x", "y", … (4 in all); the first of 2 is "a"',
    );
    const where = { file: "tasks.txt", line: 2 };
    expect(() => chosenTasks({ tasks }, ["a"], (task) => (task === "w" ? where : undefined))).toThrow(
      'tasks.txt, line 2: no game is named "w"',
    );
  });

  it("are not the name of a file that nobody read", () => {
    expect(() => namedTasks({ tasks: "tasks.txt" })).toThrow(
      'environment.tasks: expected a JSON list of tasks, received "tasks.txt"',
    );
  });
});
