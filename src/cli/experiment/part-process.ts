/** A part of a comparison in a process of its own. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import { plainText } from "../../core/plain-text.ts";
import { cardFiles, onCard } from "../../engine/cards/index.ts";
import { progress } from "../io.ts";
import { configFile, type GridPart, type PartEnd, workOf } from "./part.ts";

/** The command that such a process runs: not for people. */
export const PART_COMMAND = "experiment-part";

const endSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done") }),
  z.object({ kind: z.literal("failed"), reason: z.string() }),
  z.object({ kind: z.literal("budget") }),
  z.object({ kind: z.literal("interrupted") }),
]);

export interface PartProcess {
  /** Never rejects: a process that is lost is a part that failed. */
  ended: Promise<PartEnd>;
  /** Asks it to end: a training after its step, else at once; a second time at once. */
  stop(): void;
}

/**
 * Starts a part. What it tells goes to standard error, each line behind the part's name.
 *
 * @param card the only card that the process sees; null for all of the host
 */
export function startPart(
  part: GridPart,
  inside: (name: string) => string,
  card: number | null = null,
): PartProcess {
  progress(workOf(part));
  const { name, command } = part;
  const program = [
    ...[process.execPath, process.argv[1]!, PART_COMMAND, "--command", command],
    ...["--config", inside(configFile(name)), "--out", inside(name)],
  ];
  const [file, ...args] = (card === null ? program : onCard(card, cardFiles(), program)) as [
    string,
    ...string[],
  ];
  const child = spawn(
    file,
    args,
    // A group of its own: Ctrl-C reaches this process alone, which asks the parts to end. Its channel closes with this
    // process, however that ends.
    { stdio: ["ignore", "ignore", "pipe", "ipc"], detached: true },
  );
  let told: PartEnd | null = null;
  let last = "";
  let asked = false;
  child.on("message", (message) => {
    told = endSchema.safeParse(message).data ?? null;
  });
  createInterface({ input: child.stderr! }).on("line", (line) => {
    last = plainText(line).trim();
    progress(`${name}: ${last}`);
  });
  const ended = new Promise<PartEnd>((resolve) => {
    const lost = (how: string) => resolve({ kind: "failed", reason: `its process was lost: ${how}` });
    child.once("error", (error) => lost(error.message));
    child.once("close", (code, signal) => {
      if (told !== null) resolve(told);
      // It had not come to listen yet.
      else if (asked && signal === "SIGTERM") resolve({ kind: "interrupted" });
      else lost(`${signal ?? `exit code ${code}`}${last === "" ? "" : ` (${last})`}`);
    });
  });
  const stop = () => {
    asked = true;
    child.kill("SIGTERM");
  };
  return { ended, stop };
}
