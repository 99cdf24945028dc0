/** One episode in a game: its state, what can be done in it, and what TextWorld answers. */
import { aroundFacts } from "../../core/environment/alfworld/locator.ts";
import { trimWhiteSpace } from "../../core/white-space.ts";
import type { CircuitState } from "./circuit.ts";
import type { Game } from "./game.ts";
import { SHOWN, SHOWN_NEGATED } from "./narrator.ts";

export interface Turn {
  /** The engine's text, unchanged. The first has the task sentence at its end. */
  feedback: string;
  /** Whether the command was carried out; anything else is answered with `NOTHING_HAPPENS`. */
  accepted: boolean;
  /** The goal holds. A game cannot be lost, and ends only when it is won. */
  won: boolean;
}

export const NOTHING_HAPPENS = "Nothing happens.";

const ENCODER = new TextEncoder();

/**
 * The state has two sides. What is true decides what can be done and whether the goal holds. What is shown, in texts and
 * in the locator, is a log: each effect of an operator is recorded whether its condition held or not, and so are
 * negations.
 */
export class Episode {
  readonly #state: CircuitState;
  /** Bits `SHOWN` and `SHOWN_NEGATED` of each atom. */
  readonly #shown: Uint8Array;
  /** For each fact of the game whether it is shown, a bit each. */
  readonly #facts: Int32Array;
  /** Operators of each command that can be applied. */
  readonly #applicable: Int32Array;
  /** For each command whether it is admissible, a bit each. */
  readonly #admissible: Int32Array;

  constructor(private readonly game: Game) {
    const { task, circuit } = game;
    this.#shown = new Uint8Array(task.atoms.length);
    this.#facts = new Int32Array((game.facts.length + 31) >> 5);
    this.#applicable = new Int32Array(game.commands.length);
    this.#admissible = new Int32Array((game.commands.length + 31) >> 5);
    this.#state = circuit.start();
    for (let operator = 0; operator < task.operators.length; operator++)
      if (circuit.holds(this.#state, operator)) this.#onRoot(operator, true);
    for (const atom of task.init) {
      this.#set(atom, true);
      this.#show(atom, false);
    }
  }

  /** The opening text. */
  opening(): Turn {
    const { narrator, intro } = this.game;
    return { feedback: narrator.tell(intro, [], this.#shown), accepted: true, won: this.won };
  }

  get won(): boolean {
    return this.game.circuit.holds(this.#state, this.game.goal);
  }

  /** Carries out a command. White space around it is ignored; letter case is not. */
  step(command: string): Turn {
    const { task, circuit, narrator, feedback } = this.game;
    const operator = this.#find(trimWhiteSpace(command));
    if (operator === undefined) return { feedback: NOTHING_HAPPENS, accepted: false, won: this.won };
    const { effects, arguments: objects } = task.operators[operator]!;
    // All conditions are about the state before.
    const whens = this.game.whens[operator]!;
    const happens = effects.map((_, i) => circuit.holds(this.#state, whens[i]!));
    effects.forEach(({ atom, negative }, i) => {
      this.#show(atom, negative);
      if (happens[i]) this.#set(atom, !negative);
    });
    return {
      feedback: narrator.tell(feedback[operator]!, objects, this.#shown),
      accepted: true,
      won: this.won,
    };
  }

  /** Commands that can be carried out now, in ascending order. */
  admissible(): string[] {
    return membersOf(this.#admissible, (command) => this.game.commands[command]!.text);
  }

  /** The facts shown, as the engine prints them, in ascending order. */
  facts(): string[] {
    return membersOf(this.#facts, (fact) => this.game.facts[fact]!.text);
  }

  /** The locator's key of this state (Appendix "State descriptors and matching"). */
  key(task: string): string {
    return this.game.hash(...this.keyParts(task));
  }

  /** What the key is the SHA-256 of, in two parts. The first is good until the game is asked for another key. */
  keyParts(task: string): readonly [Uint8Array, Uint8Array] {
    const { facts, inKeys, keyRoom: bytes } = this.game;
    const { before, behind } = aroundFacts({ gamefile: task, won: this.won, lost: false });
    // The comma of the first fact comes to lie where the list begins, and gives way to its bracket.
    let end = before.length - 1;
    for (let word = 0; word < inKeys.length; word++)
      for (let left = this.#facts[word]! & inKeys[word]!; left !== 0; left &= left - 1) {
        const json = facts[(word << 5) + 31 - Math.clz32(left & -left)]!.json!;
        bytes.set(json, end);
        end += json.length;
      }
    ENCODER.encodeInto(before, bytes);
    return [bytes.subarray(0, Math.max(end, before.length)), ENCODER.encode(behind)];
  }

  /** The operator that a command stands for now. */
  #find(text: string): number | undefined {
    const command = this.game.findCommand(text);
    if (command === undefined || this.#applicable[command] === 0) return undefined;
    return this.game.commands[command]!.operators.find((operator) =>
      this.game.circuit.holds(this.#state, operator),
    );
  }

  #set(atom: number, holds: boolean): void {
    this.game.circuit.set(this.#state, atom, holds, this.#onRoot);
  }

  #onRoot = (root: number, holds: boolean): void => {
    const command = this.game.commandOf[root];
    if (command === undefined) return; // the goal, or the condition of an effect
    const count = this.#applicable[command]! + (holds ? 1 : -1);
    this.#applicable[command] = count;
    write(this.#admissible, command, count > 0);
  };

  #show(atom: number, negated: boolean): void {
    this.#shown[atom] = negated ? SHOWN_NEGATED : SHOWN;
    const { factOf } = this.game;
    const [now, before] = negated ? [2 * atom + 1, 2 * atom] : [2 * atom, 2 * atom + 1];
    write(this.#facts, factOf[now]!, true);
    if (factOf[before]! >= 0) write(this.#facts, factOf[before]!, false);
  }
}

function write(bits: Int32Array, at: number, set: boolean): void {
  const mask = 1 << (at & 31);
  if (set) bits[at >> 5]! |= mask;
  else bits[at >> 5]! &= ~mask;
}

/** What a function says of each set bit, in ascending order. */
function membersOf<T>(bits: Int32Array, of: (at: number) => T): T[] {
  const found: T[] = [];
  for (let word = 0; word < bits.length; word++)
    for (let left = bits[word]!; left !== 0; left &= left - 1)
      found.push(of((word << 5) + 31 - Math.clz32(left & -left)));
  return found;
}
