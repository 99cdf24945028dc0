import { spawn } from "node:child_process";
import { cardFiles, chosenCards, onCard } from "./devices.ts";
import type { CardLink, FromCard, ToCard } from "./protocol.ts";

/** Milliseconds that a card's process gets to end by itself. */
const GRACE = 5000;

/**
 * A way to start a process for each card: `program` is a script and its arguments that calls `serveCard`.
 *
 * @throws InputError when the host has not as many cards
 */
export function processCards(
  asked: number | readonly number[],
  program: readonly string[],
): { cards: number[]; link: (card: number) => CardLink } {
  const files = cardFiles();
  const cards = chosenCards(asked, files);
  return { cards, link: (card) => new ProcessLink(onCard(card, files, [process.execPath, ...program])) };
}

/** A process, started by this command, that calls `serveCard`. */
export class ProcessLink implements CardLink {
  readonly #child;
  #ended = false;

  constructor(command: readonly string[]) {
    const [file, ...args] = command as [string, ...string[]];
    this.#child = spawn(file, args, {
      // What a card prints is for the person who runs this; standard output belongs to the results.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "advanced",
      // Files of shared memory are read and written by these threads: more of them than pieces under way.
      env: { UV_THREADPOOL_SIZE: "16", ...process.env },
    });
  }

  send(message: ToCard): void {
    // A send to a process that has just ended: its end is told by `ended`.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  listen({ message, ended }: Parameters<CardLink["listen"]>[0]): void {
    const end = (why: string) => {
      if (this.#ended) return;
      this.#ended = true;
      ended(why);
    };
    this.#child.on("message", (value) => message(value as FromCard));
    this.#child.on("error", (error) => end(error.message));
    this.#child.on("exit", (code, signal) => end(signal === null ? `exit code ${code}` : signal));
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
    const { exitCode, signalCode } = this.#child;
    if (this.#ended || exitCode !== null || signalCode !== null) return;
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), GRACE);
    this.#child.once("exit", () => clearTimeout(timer));
  }
}
