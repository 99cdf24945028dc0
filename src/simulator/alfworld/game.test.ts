import { describe, expect, it } from "vitest";
import { InputError } from "../../core/errors.ts";
import { Episode, NOTHING_HAPPENS } from "./episode.ts";
import { Game, type GameFile, readGameFile } from "./game.ts";
import { makeGame } from "./generate.ts";

const made = makeGame(2);

/** The one line that refuses a game. */
function refused(changes: Partial<GameFile>): string {
  try {
    new Game({ ...made, ...changes }, "a.tw-pddl");
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as InputError).message;
  }
  throw new Error("was taken");
}
const domain = (from: string, to: string) => {
  expect(made.pddl_domain).toContain(from);
  return { pddl_domain: made.pddl_domain.replace(from, to) };
};
const problem = (from: string, to: string) => {
  expect(made.pddl_problem).toContain(from);
  return { pddl_problem: made.pddl_problem.replace(from, to) };
};
const grammar = (from: string, to: string) => {
  expect(made.grammar).toContain(from);
  return { grammar: made.grammar.replace(from, to) };
};

describe("game files that cannot be opened", () => {
  it.each<[string, string, string]>([
    ["a truncated file", JSON.stringify(made).slice(0, 500), "a.tw-pddl: not JSON"],
    ["no object", "[]", "a.tw-pddl: "],
    ["a missing key", JSON.stringify({ ...made, grammar: undefined }), "a.tw-pddl, grammar: missing"],
    ["a key of another type", JSON.stringify({ ...made, pddl_domain: 3 }), "a.tw-pddl, pddl_domain: "],
  ])("%s", (_, text, message) => {
    expect(() => readGameFile(text, "a.tw-pddl")).toThrow(InputError);
    expect(() => readGameFile(text, "a.tw-pddl")).toThrow(message);
  });

  it.each<[string, Partial<GameFile>, string]>([
    [
      "an unknown requirement",
      domain(":typing", ":durative-actions"),
      "unknown requirement :durative-actions",
    ],
    ["an unknown section", domain("(:predicates", "(:derived"), "unknown section :derived"],
    ["an unknown predicate", domain("(busy ?a))", "(bussy ?a))"), "unknown predicate bussy"],
    ["a wrong number of arguments", domain(":effect (opened ?r)", ":effect (opened ?r ?r)"), "expected"],
    ["an unbound variable", domain(":effect (clean ?i)", ":effect (clean ?x)"), "?x is not bound"],
    [
      "an unknown type",
      domain("?r - receptacle)\n    :precondition (at", "?r - shelf)\n    :precondition (at"),
      "unknown type shelf",
    ],
    ["a truncated domain", { pddl_domain: made.pddl_domain.slice(0, -3) }, "pddl_domain: ends inside"],
    [
      "an unknown object",
      problem("(at agent_bar_1 middle_bar_1)", "(at agent_bar_1 moon)"),
      "unknown object moon",
    ],
    [
      "an object listed twice",
      problem("agent_bar_1 - agent", "agent_bar_1 agent_bar_1 - agent"),
      "listed twice",
    ],
    ["no goal", { pddl_problem: made.pddl_problem.replace(/\(:goal[\s\S]*$/, ")") }, "has no (:goal …)"],
    ["an unknown symbol", grammar("#task#", "#taks#"), "unknown symbol #taks#"],
    ["a rule that reaches itself", grammar("#one(i)#", "#items#"), "the rule #items# reaches itself"],
    ["an unbound name", grammar("You close the {r.name}", "You close the {x.name}"), "x is not bound"],
    [
      "an unknown attribute",
      grammar("You close the {r.name}", "You close the {r.size}"),
      'cannot evaluate "r.size"',
    ],
    [
      "a query of an unknown predicate",
      grammar("carries(a: agent", "bears(a: agent"),
      "unknown predicate bears",
    ],
    ["an action without an entry", grammar("action heat", "action hat"), "has no action heat"],
    ["a grammar that is cut off", { grammar: made.grammar.slice(0, -4) }, "grammar: line"],
    ["rules that are no JSON", grammar('"task":', "task:"), "grammar, grammar: not JSON"],
  ])("%s", (_, changes, message) => {
    const line = refused(changes);
    expect(line).toMatch(/^a\.tw-pddl, (pddl_domain|pddl_problem|grammar)/);
    expect(line).toContain(message);
    expect(line).not.toContain("\n");
  });
});

describe("games made to take a machine down", () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `x${i}`).join(" ");
  const action = (text: string) => domain("(:action look", `(:action mine ${text})\n  (:action look`);

  it("brackets without end", () => {
    expect(refused({ pddl_domain: "(".repeat(1_000_000) })).toContain("nests deeper than 100");
  });

  it("more objects than are read", () => {
    expect(refused(problem("middle_bar_1 - place", `middle_bar_1 ${names(30_000)} - place`))).toContain(
      "at most 20000",
    );
  });

  it("an action with millions of choices", () => {
    const changes = {
      ...problem("middle_bar_1 - place", `middle_bar_1 ${names(1_500)} - place`),
      ...action(":parameters (?p - place ?q - place) :effect (lit ?p)"),
    };
    expect(refused(changes)).toContain("asks for more than 65536 operators");
  });

  it("a condition over millions of choices", () => {
    const changes = {
      ...problem("middle_bar_1 - place", `middle_bar_1 ${names(1_500)} - place`),
      ...action(
        ":parameters (?a - agent) :precondition (exists (?p - place ?q - place) (and (at ?a ?p) (at ?a ?q))) :effect (inspected ?a)",
      ),
    };
    expect(refused(changes)).toMatch(/more than \d+ (ground parts|facts|choices)/);
  });

  it("a precondition of thousands of conditions", () => {
    const many = "(washes ?r) ".repeat(5_000);
    const line = refused(
      action(`:parameters (?r - receptacle) :precondition (and ${many}) :effect (opened ?r)`),
    );
    expect(line).toContain("joins 5000 conditions");
  });

  it("a command's text that reaches itself", () => {
    const changes = grammar('template :: "look"', 'template :: "look #loop#"');
    const looped = changes.grammar.replace('"task":', '"loop": [{ "rhs": "#loop#" }], "task":');
    expect(refused({ grammar: looped })).toContain("the rule #loop# reaches itself");
  });

  it("rules that call each other thousands deep", () => {
    const rules = Array.from({ length: 20_000 }, (_, i) => `"d${i}": [{ "rhs": "#d${i + 1}#" }],`).join("\n");
    const deep = made.grammar.replace('"task":', `${rules} "d20000": [{ "rhs": "x" }], "task":`);
    expect(refused({ grammar: deep.replace("#overview#\\n", "#d0#\\n") })).toContain(
      "rules nest deeper than 100",
    );
  });

  it("a text that doubles at each rule", () => {
    const rules = Array.from(
      { length: 40 },
      (_, i) => `"d${i}": [{ "rhs": "#d${i + 1}##d${i + 1}#" }],`,
    ).join("\n");
    const changes = grammar('"task":', `${rules} "d40": [{ "rhs": "x" }], "task":`);
    const line = refused({ grammar: changes.grammar.replace("#overview#\\n", "#d0#\\n") });
    expect(line).toMatch(/reach too many others|takes more than/);
  });
});

describe("an episode", () => {
  const game = new Game(made, made.task);

  it("does not touch another one in the same game", () => {
    const [one, other] = [new Episode(game), new Episode(game)];
    const before = other.key("t");
    for (const command of made.walkthrough) one.step(command);
    expect(one.won).toBe(true);
    expect(other.key("t")).toBe(before);
    expect(other.won).toBe(false);
  });

  it("answers what is not a command, and changes nothing", () => {
    const episode = new Episode(game);
    const before = episode.key("t");
    for (const text of ["", "LOOK", "go to nowhere 1", made.walkthrough.at(-1)!])
      expect(episode.step(text)).toEqual({ feedback: NOTHING_HAPPENS, accepted: false, won: false });
    expect(episode.key("t")).toBe(before);
    expect(episode.step("\u001f look \u0085")).toMatchObject({ accepted: true });
  });
});
