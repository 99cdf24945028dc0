/** A py4j gateway in this process that plays a tiny ScienceWorld, so that no test needs Java. */

import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";

const LISTS: Record<string, string> = {
  ro1: "slook at OBJ\u0001wait",
  ro2: "sdoor",
  ro3: "stiny",
  ro4: "smenu\u00010\u0001win",
};

const TREE = JSON.stringify({ uuid: "1", name: "room", contents: {} });

/** Answers by method, `<init>` for a new object; a missing one and null answer nothing. */
export type Answers = Record<string, (args: readonly string[]) => string | null>;

/** What the tiny simulator answers: `win` scores 100, `menu` opens a menu, everything else is not understood. */
export function tinyWorld(): Answers {
  let [score, moves] = [0, 0];
  const feedback: Record<string, string> = {
    "look around": "You see:\n\ta door\\that is shut",
    win: "Done.",
    menu: "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n0:\tlook at a\n1:\tlook at b\n",
    "0": "It is a.",
  };
  return {
    "<init>": () => "ro0",
    load: ([, variation]) => (variation === "i7" ? "sERROR: Task (tiny): there is no variation 7." : "s"),
    reset: () => {
      [score, moves] = [0, 0];
      return "v";
    },
    step: ([action = ""]) => {
      const text = action.slice(1);
      if (text !== "look around") moves++;
      if (text === "win") score = 0.995;
      const said = feedback[text] ?? "No known action matches that input.";
      return `s${said.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`;
    },
    getScore: () => `d${score}`,
    getCompleted: () => `b${score > 0.9}`,
    getNumMoves: () => `i${moves}`,
    getTaskDescription: () => "sYour task is to win.",
    freeActionLook: () => "sa room",
    freeActionInventory: () => "snothing",
    getPossibleActions: () => "lo1",
    getPossibleObjects: () => "lo2",
    getObjectTree: () => `s${TREE.replaceAll("\\", "\\\\")}`,
    getGoalProgressStr: () => "sCompleted keys: \\n",
    getTaskNames: () => "lo3",
    getTaskMaxVariations: () => "i7",
    getGoldActionSequence: () => "lo4",
    join: ([, list = ""]) => LISTS[list] ?? "s",
    toString: () => "s[0, 1, 22]",
  };
}

export interface StubGateway {
  port: number;
  /** Commands so far, each as its lines. */
  commands: string[][];
  /** Commands that came before the one ahead of them was answered: a client must wait. */
  pipelined: number;
  close(): Promise<void>;
}

/**
 * Listens on a free port of this machine.
 *
 * @param world of all who connect, or one for each
 */
export async function stubGateway(world: Answers | (() => Answers) = tinyWorld): Promise<StubGateway> {
  const commands: string[][] = [];
  const sockets = new Set<Socket>();
  const stub = { commands, pipelined: 0 };
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    const answers = typeof world === "function" ? world() : world;
    let rest = "";
    socket.setEncoding("utf8").on("error", () => undefined);
    socket.on("data", (text: string) => {
      const parts = (rest + text).split("\ne\n");
      rest = parts.pop() ?? "";
      if (parts.length > 1) stub.pipelined++;
      for (const part of parts) {
        const lines = part.split("\n");
        commands.push(lines);
        const [kind, , method = "", ...args] = lines;
        const answer = kind === "m" ? "v" : (answers[kind === "i" ? "<init>" : method]?.(args) ?? null);
        if (answer !== null) socket.write(answer.startsWith("!") ? `${answer}\n` : `!y${answer}\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(stub, {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  });
}
