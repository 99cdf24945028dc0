/**
 * Opens ALFWorld's games: `game.tw-pddl`, a JSON object with a PDDL domain and problem and a grammar. An opened game is
 * grounded once and does not change; any number of episodes can be played in it at the same time.
 */
import { z } from "zod";
import { asciiString, compareCodePoints } from "../../core/environment/canonical-text.ts";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { sha256OfParts } from "../../core/seeded.ts";
import { Circuit } from "./circuit.ts";
import { readGrammar } from "./grammar.ts";
import { type GroundTask, ground } from "./ground.ts";
import { displayNames } from "./names.ts";
import { type LinkedText, Narrator } from "./narrator.ts";
import { readDomain, readProblem } from "./pddl.ts";
import { compareArguments } from "./predicate.ts";

const gameSchema = z.looseObject({
  pddl_domain: z.string(),
  grammar: z.string(),
  pddl_problem: z.string(),
  walkthrough: z.array(z.string()).nullish(),
});

/** The parts of a game file that are needed to play it. */
export type GameFile = z.infer<typeof gameSchema>;

export interface OpenOptions {
  /** How objects are shown: as ALFWorld does it, `cabinet 3`, or as TextWorld alone does it, by their ids. */
  names?: "alfworld" | "ids";
  /** SHA-256 of parts in lower-case hex, for keys. Node's own is many times faster than the one built in here. */
  hash?: (...parts: readonly Uint8Array[]) => string;
}

/**
 * The parts of a game file.
 *
 * @param file named in messages
 * @throws InputError with the key at fault
 */
export function readGameFile(text: string, file: string): GameFile {
  return checkedBy(gameSchema, parseJsonText(text, { file }), { file });
}

/** A command with the operators that it can stand for, in the order in which they are tried. */
export interface Command {
  text: string;
  operators: number[];
}

/** A fact as the engine prints it. */
export interface FactText {
  text: string;
  /**
   * Its JSON in ASCII behind a comma, for keys. Facts that always hold are joined to those beside them: the first has the
   * JSON of all, the others have null.
   */
  json: Uint8Array | null;
}

export class Game {
  readonly task: GroundTask;
  /** In ascending order of their texts. */
  readonly commands: readonly Command[];
  /** Command of each operator. */
  readonly commandOf: Int32Array;
  /** How the game can be won, where the file says it. */
  readonly walkthrough: readonly string[] | null;
  /** Truth of the operators' preconditions; behind them the goal, and behind it the conditions of effects. */
  readonly circuit: Circuit;
  readonly goal: number;
  /** For each operator and effect the root of its condition in the circuit. */
  readonly whens: readonly Int32Array[];
  readonly narrator: Narrator;
  readonly intro: LinkedText;
  /** Answer of each operator. */
  readonly feedback: readonly LinkedText[];
  /** All facts that may come to be shown, in ascending order; `2 · atom`, plus 1 if negated, → its place. */
  readonly facts: readonly FactText[];
  readonly factOf: Int32Array;
  /** For each fact whether it has JSON, a bit each. */
  readonly inKeys: Int32Array;
  /** Room for the JSON of all facts and 16 bytes more, used by one key after the other. */
  readonly keyRoom: Uint8Array;
  readonly hash: NonNullable<OpenOptions["hash"]>;
  readonly #commands: ReadonlyMap<string, number>;

  /**
   * @param file named in messages
   * @throws InputError with the key at fault, for anything that is not understood or asks for too much
   */
  constructor(game: GameFile, file: string, options: OpenOptions = {}) {
    const domain = readDomain(game.pddl_domain, { file, key: "pddl_domain" });
    const problem = readProblem(game.pddl_problem, domain, { file, key: "pddl_problem" });
    const where = { file, key: "grammar" };
    const grammar = readGrammar(game.grammar, where);
    const task = ground(domain, problem, { file, key: "pddl_problem" });
    this.task = task;
    this.hash = options.hash ?? sha256OfParts;
    this.walkthrough = game.walkthrough ?? null;

    const names = [...task.objects];
    if (options.names !== "ids") {
      // Only objects in the initial facts are given ALFWorld's names.
      const known = new Set(task.init.flatMap((atom) => [...task.atoms[atom]!.arguments]));
      const shown = displayNames([...known].map((object) => task.objects[object]!));
      task.objects.forEach((id, object) => {
        names[object] = shown.get(id) ?? id;
      });
    }
    this.narrator = new Narrator(task, grammar, names, where);
    const linked = new Map(
      domain.actions.map((action) => {
        const entry = grammar.actions.get(action.name);
        if (entry === undefined)
          throw new InputError(`has no action ${action.name}, which the domain has`, where);
        const template = this.narrator.link(entry.template, action, `action ${action.name}, template`);
        if (!this.narrator.isStatic(entry.template))
          throw new InputError(`action ${action.name}: its template depends on facts that change`, where);
        const feedback = this.narrator.link(entry.feedback, action, `action ${action.name}, feedback`);
        return [action, { template, feedback }];
      }),
    );
    this.intro = this.narrator.link([{ kind: "rule", rule: "intro" }], null, "the opening text");

    const shown = new Uint8Array(task.atoms.length);
    for (const atom of task.init) shown[atom] = 1;
    const texts = task.operators.map((operator) =>
      this.narrator.tell(linked.get(operator.action)!.template, operator.arguments, shown),
    );
    this.feedback = task.operators.map((operator) => linked.get(operator.action)!.feedback);
    const byText = new Map<string, number[]>();
    texts.forEach((text, operator) => {
      const same = byText.get(text);
      if (same === undefined) byText.set(text, [operator]);
      else same.push(operator);
    });
    this.commands = [...byText]
      .sort(([a], [b]) => compareCodePoints(a, b))
      .map(([text, operators]) => ({ text, operators: operators.sort((a, b) => this.#compare(a, b)) }));
    this.#commands = new Map(this.commands.map(({ text }, command) => [text, command]));
    this.commandOf = Int32Array.from(texts, (text) => this.#commands.get(text)!);

    const roots = task.operators.map(({ precondition }) => precondition);
    this.goal = roots.push(task.goal) - 1;
    this.whens = task.operators.map(({ effects }) =>
      Int32Array.from(effects, ({ when }) => roots.push(when) - 1),
    );
    this.circuit = new Circuit(task.atoms.length, roots);
    [this.facts, this.factOf] = factTexts(task, names);
    this.inKeys = new Int32Array((this.facts.length + 31) >> 5);
    this.facts.forEach(({ json }, place) => {
      if (json !== null) this.inKeys[place >> 5]! |= 1 << (place & 31);
    });
    this.keyRoom = new Uint8Array(this.facts.reduce((sum, { json }) => sum + (json?.length ?? 0), 16));
  }

  /** The planner's order of operators: by name, then by arguments, whose ids are in the order of their names. */
  #compare(a: number, b: number): number {
    const [first, second] = [this.task.operators[a]!, this.task.operators[b]!];
    return (
      compareCodePoints(first.action.name, second.action.name) ||
      compareArguments(first.arguments, second.arguments)
    );
  }

  /** Place of a command among `commands`. */
  findCommand(text: string): number | undefined {
    return this.#commands.get(text);
  }
}

/**
 * A game from the text of its file.
 *
 * @param file named in messages
 * @throws InputError with the key at fault
 */
export function openGame(text: string, file: string, options?: OpenOptions): Game {
  return new Game(readGameFile(text, file), file, options);
}

/** Facts that hold at the start or are changed by an operator, as the engine prints them. */
function factTexts(task: GroundTask, names: readonly string[]): [FactText[], Int32Array] {
  const shown = new Set(task.init.map((atom) => 2 * atom));
  const changed = new Set<number>();
  for (const { effects } of task.operators)
    for (const { atom, negative } of effects) {
      changed.add(atom);
      shown.add(2 * atom + Number(negative));
    }
  const facts = [...shown].map((node) => {
    const { predicate, arguments: list } = task.atoms[node >> 1]!;
    const terms = [...list].map((object) => `${names[object]}: ${task.types[object]}`).join(", ");
    const text = `${node & 1 ? "not_" : ""}${predicate.name}(${terms})`;
    return { node, text };
  });
  facts.sort((a, b) => compareCodePoints(a.text, b.text));
  const factOf = new Int32Array(2 * task.atoms.length).fill(-1);
  const texts: { text: string; json: string | null }[] = [];
  let first: (typeof texts)[number] | undefined;
  facts.forEach(({ node, text }, place) => {
    factOf[node] = place;
    const own = { text, json: `,${asciiString(text)}` };
    if (changed.has(node >> 1)) first = undefined;
    else if (first === undefined) first = own;
    else {
      first.json += own.json;
      texts.push({ text, json: null });
      return;
    }
    texts.push(own);
  });
  const encoder = new TextEncoder();
  return [
    texts.map(({ text, json }) => ({ text, json: json === null ? null : encoder.encode(json) })),
    factOf,
  ];
}
