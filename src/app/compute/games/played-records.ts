/** What was played in this visit to the page, as records of the library format. */
import {
  finished,
  type LiveEpisode,
  type Played,
  playedEpisode,
  playedSource,
  type SourceName,
  verified,
} from "../../../core/loop/index.ts";
import { taskKey } from "../../../core/record/library.ts";
import type { Episode, Source } from "../../../core/record/schema.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import { gamesWorker } from "../clients.ts";
import { gameOf } from "./games.ts";
import { RemoteEnvironment } from "./internal/remote-environment.ts";

/** An episode that was played in the page. */
export interface PlayedHere extends Played {
  /** From 1, in the order of their beginnings. */
  number: number;
}

/** An episode as it is now. One that is not over is incomplete. */
export function playedNow(live: LiveEpisode, number: number): PlayedHere {
  const end = live.ended ?? { ended: "technical", complete: false, reason: "not played to its end" };
  return { ...finished(live, end), number };
}

/** Who decided: `person`, `student`, `teacher`, `teacher under evidence` or `record`. */
function deciders({ decisions }: Pick<Played, "decisions">): string[] {
  return [...new Set(decisions.map(({ by }) => String(by)))];
}

/** A record that the student alone has played is an episode; any other is an execution. */
export const isStudents = (played: Pick<Played, "decisions">): boolean =>
  deciders(played).every((by) => by === "student");

function nameOf(played: PlayedHere, repetition: number): SourceName {
  const { number } = played;
  const [by, ...others] = deciders(played);
  const kind =
    others.length > 0 ? "other" : by === "person" ? "human" : by === "teacher" ? "teacher" : "other";
  return { source: `played:${number}`, repetition, origin: { kind, play_settings: deciders(played) } };
}

/** `repetition` counts the task's own executions, from 0: a source budget K keeps those below K. */
export function asSource(played: PlayedHere, repetition: number): Source {
  return playedSource(played, nameOf(played, repetition));
}

const lines = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

/** A record as its replay finds it; without its game it stays unverified. */
async function verifiedHere(source: Source): Promise<Source> {
  if (gameOf(source) === null) {
    const { outcome } = source;
    return outcome.complete
      ? { ...source, outcome: { ...outcome, replay_difference: "its game is closed" } }
      : source;
  }
  const environment = new RemoteEnvironment(gamesWorker(), source.environment);
  try {
    return await verified(source, environment);
  } finally {
    await environment.close();
  }
}

/** The records as files: executions, each verified by a replay where its game is open, and the student's episodes. */
export async function playedFiles(all: readonly PlayedHere[]): Promise<PathFile[]> {
  const sources: Source[] = [];
  const episodes: Episode[] = [];
  const ofTask = new Map<string, number>();
  for (const each of all) {
    if (isStudents(each)) {
      episodes.push(playedEpisode(each));
      continue;
    }
    const key = taskKey(each.task.environment, each.task.task);
    const repetition = ofTask.get(key) ?? 0;
    ofTask.set(key, repetition + 1);
    sources.push(await verifiedHere(asSource(each, repetition)));
  }
  return [
    { path: "played-sources.jsonl", records: sources },
    { path: "played-episodes.jsonl", records: episodes },
  ].flatMap(({ path, records }) =>
    records.length === 0 ? [] : [{ path, file: new File([lines(records)], path) }],
  );
}
