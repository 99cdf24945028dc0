import { describe, expect, test } from "vitest";
import { environmentFixture } from "../../../../test/support/environment-fixture.ts";
import type { Episode } from "../../record/schema.ts";
import { promptCommands, splitResetText } from "../alfworld/prompt.ts";
import { environmentRules } from "../environment.ts";
import { availableActions } from "../webshop/prompt.ts";
import { studentPrompt } from "./student-prompt.ts";
import { readPromptTemplate } from "./template.ts";

/** The input of an episode's decision t, but for the lists. */
function inputAt(episode: Episode, t: number) {
  return {
    task: episode.task_description,
    observation: episode.decisions[t]!.observation,
    history: episode.decisions.slice(0, t),
  };
}

/** A list as a recorded prompt prints it. */
function listed(prompt: string, label: string): string[] {
  return new RegExp(`^${label}: (.*)$`, "m").exec(prompt)![1]!.split("; ");
}

describe("ScienceWorld", () => {
  test("gives every recorded prompt, to the letter", () => {
    const rules = environmentRules("scienceworld");
    let count = 0;
    for (const episode of environmentFixture("scienceworld").episodes) {
      episode.decisions.forEach(({ prompt }, t) => {
        const lists = {
          action_templates: listed(prompt!, "Command forms"),
          objects: listed(prompt!, "Objects you can name"),
        };
        expect(studentPrompt(rules, { ...inputAt(episode, t), lists })).toBe(prompt);
        count++;
      });
    }
    expect(count).toBe(1699);
  });
});

describe("ALFWorld", () => {
  test("shows task, pairs, observation and the admissible commands without help", () => {
    const rules = environmentRules("alfworld");
    const history = Array.from({ length: 7 }, (_, t) => ({
      observation: `You see ${t}.`,
      action: t === 5 ? null : `go to shelf ${t}`,
    }));
    const lists = { admissible_commands: promptCommands(["go to bed 1", "help", "look"]) };
    const prompt = studentPrompt(rules, {
      task: "put a book in bed.",
      observation: "You see 7.",
      history,
      lists,
    });
    expect(prompt).toBe(
      [
        "You are an agent in a text world of household tasks.",
        "Task: put a book in bed.",
        "You have made 7 decision(s) so far. The last 5, each with what you saw before it:",
        "(3) saw: You see 2.\n    did: go to shelf 2",
        "(4) saw: You see 3.\n    did: go to shelf 3",
        "(5) saw: You see 4.\n    did: go to shelf 4",
        "(6) saw: You see 5.\n    did: (unreadable reply, nothing done)",
        "(7) saw: You see 6.\n    did: go to shelf 6",
        "Decision 8. You now see: You see 7.",
        "Commands you can give now: go to bed 1; look",
        "Think first inside <thought></thought>, then give exactly one of these commands inside <action></action>.",
      ].join("\n"),
    );
  });

  test("cuts the task sentence out of every recorded reset text", () => {
    const { sources, episodes } = environmentFixture("alfworld");
    for (const record of [...sources, ...episodes]) {
      expect(splitResetText(record.reset_feedback as string)).toEqual({
        observation: record.initial_observation,
        task: record.task_description,
      });
    }
    expect(splitResetText("A room.\n\nYour task is to: look.\nGo on.")).toEqual({
      observation: "A room.\nGo on.",
      task: "look.",
    });
    expect(splitResetText("A room.\n")).toEqual({ observation: "A room.\n", task: null });
  });
});

describe("WebShop", () => {
  test("shows two pairs and what the page offers", () => {
    const rules = environmentRules("webshop");
    const [episode] = environmentFixture("webshop").episodes;
    const lists = {
      available_actions: availableActions({ has_search_bar: true, clickables: ["search", "b015000001"] }),
    };
    const prompt = studentPrompt(rules, { ...inputAt(episode!, 5), lists });
    expect(prompt.match(/^\(\d+\) saw: /gm)).toEqual(["(4) saw: ", "(5) saw: "]);
    expect(prompt).toContain("\n    did: (unreadable reply, nothing done)\n");
    expect(prompt).toContain("\nActions on this page: search[<keywords>]; click[b015000001]\n");
    expect(availableActions({ has_search_bar: false, clickables: ["< Prev", "Search"] })).toEqual([
      "click[< Prev]",
      "click[Search]",
    ]);
  });
});

describe("templates of one's own", () => {
  const rules = environmentRules("marsworld");
  const file = {
    format: "gcopd.prompt.v1",
    message: ["{{{task}}}", "{history}{decision}: {observation}", "{moves}"],
    history: "{decisions_made}/{pairs_shown}\n{pairs}\n",
    pair: "{number} {observation} > {action}",
    unreadable_action: "?",
    lists: { moves: " | " },
  };
  const input = {
    task: "{observation}",
    observation: "$& here {moves} \n",
    history: [{ observation: "a", action: "" }],
  };

  test("are filled in one pass: recorded text is never read for placeholders", () => {
    const template = readPromptTemplate(file, null);
    expect(studentPrompt(rules, { ...input, lists: { moves: ["n", "s"] } }, template)).toBe(
      "{{observation}}\n1/1\n1 a > \n2: $& here {moves}\nn | s",
    );
  });

  test("need the lists that they name", () => {
    expect(() => studentPrompt(rules, { ...input, lists: {} }, readPromptTemplate(file, null))).toThrow(
      "lists.moves: missing; the prompt template names this list",
    );
  });

  test.each<[object, string]>([
    [{ message: "{task} {observation}" }, "my.json, message: the placeholder {history} is missing"],
    [
      { message: ["{task}{history}{observation}", "{object}"] },
      "my.json, message: unknown placeholder {object}; expected {task}, {observation}, {history}, {decision}, {moves}",
    ],
    [{ pair: "{observation} {action" }, 'my.json, pair: a single "{"; write {{ for the brace itself'],
    [{ pair: "{observation} {action} }" }, 'my.json, pair: a single "}"; write }} for the brace itself'],
    [{ history: "{pair}" }, "my.json, history: unknown placeholder {pair}; expected {pairs}, "],
    [{ history: 3 }, "my.json, history: expected string, received number"],
    [{ pair: undefined }, "my.json, pair: missing"],
    [{ lists: { moves: 1 } }, "my.json, lists.moves: expected string, received number"],
    [
      { format: "gcopd.prompt.v2" },
      'my.json, format: expected "gcopd.prompt.v1", received "gcopd.prompt.v2"',
    ],
    [{ pairs: "" }, "my.json: "],
  ])("are checked whole: %j", (changes, message) => {
    expect(() => readPromptTemplate({ ...file, ...changes }, null, { file: "my.json" })).toThrow(message);
  });

  test("name only lists that the environment supplies", () => {
    expect(() =>
      readPromptTemplate(file, environmentRules("webshop").prompt.lists, { file: "my.json" }),
    ).toThrow(
      "my.json, lists.moves: the environment supplies no list with this name; expected available_actions",
    );
    expect(() => readPromptTemplate([], null, { file: "my.json" })).toThrow(/^my\.json: expected object/);
  });
});
