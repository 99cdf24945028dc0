/** Tasks that games of one environment hold, wherever their texts come from. */
import type { Environment } from "../core/ports.ts";
import { digestOfDigests, sha256Bytes } from "../core/seeded.ts";

/** What a game is opened from: a file, or the text of one that nobody wrote. */
export interface GameText {
  /** Names it in messages. */
  label: string;
  read(): Promise<string>;
}

export interface GameSet {
  /** As records write it. */
  environment: string;
  tasks: readonly string[];
  /** An environment for one episode of a task. @param isWatched whether a person waits for its answers; not when absent */
  open(task: string, isWatched?: boolean): Environment;
  /** Actions that solve a task, where its game has them. */
  plan(task: string): Promise<readonly string[] | null>;
  /** What a task's game was opened from; that of several tasks may be the same. */
  textOf(task: string): GameText;
}

/** What tells games from others: the SHA-256 of the texts that they are opened from, in their order and each once. */
export async function textsDigest(texts: readonly GameText[]): Promise<string> {
  const digests: string[] = [];
  for (const { read } of new Set(texts))
    digests.push(await sha256Bytes(new TextEncoder().encode(await read())));
  return digestOfDigests(digests);
}
