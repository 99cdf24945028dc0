/** A household game of ours and records of it, as the command line makes them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonLines, type UploadFile, upload } from "./own-files.ts";

interface Turn {
  action: string | null;
  feedback: string;
  observation: string;
  score: number;
  won: boolean;
  key: string;
}

export interface MadeGame {
  task: string;
  walkthrough: string[];
  file: UploadFile;
  /** The walkthrough as it was played: the reset, and an answer for each action. */
  turns: Turn[];
}

/** The game of a seed, played along its walkthrough by `gcopd play`. */
export function madeGame(seed: number): MadeGame {
  const folder = mkdtempSync(join(tmpdir(), "gcopd-game-"));
  try {
    const gcopd = (...args: string[]) =>
      execFileSync(process.execPath, ["bin/gcopd.js", ...args], { encoding: "utf8", stdio: "pipe" });
    gcopd("games", "--environment", "alfworld", "--count", "1", "--seed", String(seed), "--out", folder);
    const [name] = readdirSync(folder);
    const game = join(folder, name!);
    const bytes = readFileSync(game);
    const { task, walkthrough } = JSON.parse(bytes.toString()) as { task: string; walkthrough: string[] };
    const [actions, out] = [join(folder, "actions.jsonl"), join(folder, "turns.jsonl")];
    writeFileSync(actions, jsonLines(walkthrough));
    gcopd(
      ...["play", "--environment", "alfworld", "--game", game, "--task", task],
      ...["--actions", actions, "--out", out],
    );
    const turns = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((line): Turn => JSON.parse(line));
    return { task, walkthrough, file: upload(name!, bytes), turns };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The walkthrough as a record of library format 1. */
export function walkthroughRecord({ task, walkthrough, turns }: MadeGame, source: string) {
  const [first] = turns;
  const state = (turn: Turn) => ({ key: turn.key, mode: "normal", options: {} });
  const end = turns.at(-1)!;
  return {
    format: "gcopd.source.v1",
    environment: "alfworld",
    task,
    source,
    repetition: Number(source.split(":")[1]),
    origin: { kind: "planner" },
    task_description: /Your task is to: (.*)/.exec(first!.feedback)![1],
    initial_observation: first!.observation,
    decisions: walkthrough.map((action, t) => ({
      observation: turns[t]!.observation,
      state: state(turns[t]!),
      action,
      binding: null,
      status: "executed",
      feedback: turns[t + 1]!.feedback,
      score: turns[t + 1]!.score,
      gap_before: false,
      attempts: [],
    })),
    final_state: state(end),
    outcome: { complete: true, success: end.won, score: end.score, ended: "environment", verified: true },
  };
}
