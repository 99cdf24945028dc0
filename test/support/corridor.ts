/** A small live environment: a corridor of rooms, the last of which wins. It executes actions and nothing else. */
import type {
  Environment,
  EnvironmentAnswer,
  EnvironmentStart,
  EnvironmentTurn,
} from "../../src/core/ports.ts";

/** What happened to a corridor, for tests that count. */
export interface CorridorLog {
  resets: number;
  actions: string[];
  closed: number;
}

/**
 * `forward` and `back` move, anything else is rejected: it leaves the corridor as it was but, as a simulator may, spoils
 * `damage` (from then on every text has a mark that a replay must not show).
 */
export function corridor(rooms = 3, log: CorridorLog = newLog()): Environment {
  let task = "";
  let at = 0;
  let damaged = false;
  const turn = (feedback: string): EnvironmentTurn => ({
    observation: feedback,
    feedback,
    offered: { commands: ["back", "forward", "help"] },
    state: { key: `${task}:${at}`, mode: "normal", options: {} },
    score: (100 * at) / (rooms - 1),
    done: at === rooms - 1,
    success: at === rooms - 1,
  });
  const text = () => `Room ${at}.${damaged ? " It is damaged." : ""}`;
  return {
    async reset(name): Promise<EnvironmentStart> {
      [task, at, damaged] = [name, 0, false];
      log.resets += 1;
      return { ...turn(text()), description: `Leave ${name}.` };
    },
    async step(action): Promise<EnvironmentAnswer> {
      log.actions.push(action);
      if (action !== "forward" && action !== "back") {
        damaged = true;
        return { ...turn("Nothing happens."), status: "rejected" };
      }
      at = Math.max(0, at + (action === "forward" ? 1 : -1));
      return { ...turn(text()), status: "executed" };
    },
    async close() {
      log.closed += 1;
    },
  };
}

export function newLog(): CorridorLog {
  return { resets: 0, actions: [], closed: 0 };
}
