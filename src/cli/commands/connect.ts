import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { keepConnection } from "../../worker/launch/connect.ts";
import { readTarget, targetsFile } from "../../worker/launch/target.ts";
import { listenForInterrupts } from "../engine/interrupt.ts";
import { number } from "../engine/options.ts";
import { printLine, progress } from "../io.ts";
import { toPort } from "./worker.ts";

/** Beside the worker of this machine, so that each keeps its own origin in the browser. */
const DEFAULT_PORT = 8792;

interface Options {
  port: number;
  socket?: string;
  tokenFile?: string;
  every: number;
}

export function register(program: Command): void {
  program
    .command("connect <target>")
    .description(
      "Open the page of a `gcopd worker --socket` on a target, through ssh, until it is interrupted. Prints the page's address.",
    )
    .option(
      "--port <number>",
      "port of this machine for the page; 0 takes any free one",
      toPort,
      DEFAULT_PORT,
    )
    .option("--socket <path>", "the worker's socket there (default: worker.sock in the data folder there)")
    .option("--token-file <file>", "the worker's token file there (default: token in the data folder there)")
    .option(
      "--every <seconds>",
      "how long to wait before a connection that broke is tried again",
      number(0),
      5,
    )
    .action(connect);
}

async function connect(name: string, { every, ...options }: Options): Promise<void> {
  const { host, scheduler, ...place } = readTarget(name);
  if (host === undefined)
    throw new InputError(
      scheduler === "kubernetes"
        ? `target ${name} is a Kubernetes cluster, which ssh cannot reach`
        : `target ${name} is this machine: open its worker's page directly`,
      { file: targetsFile(), key: name },
    );
  const interrupt = listenForInterrupts();
  let isNew = true;
  try {
    await keepConnection({
      ...options,
      place: { ...place, host },
      againMs: every * 1000,
      until: interrupt.first,
      opened(port) {
        if (isNew) {
          progress(`gcopd: connected to the worker on ${name}. Press Ctrl-C to end.`);
          printLine(`http://127.0.0.1:${port}/`);
        } else progress(`gcopd: ${name}: reconnected`);
        isNew = false;
      },
      broken(since, why) {
        progress(`gcopd: ${name}: unreachable since ${since.toLocaleTimeString("sv")}: ${why}; retrying`);
      },
    });
  } finally {
    interrupt.release();
  }
}
