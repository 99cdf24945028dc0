/** How long a run takes, as a range: what is left of one under way, and what one will take that is still to start. */
import type { Range } from "../../base/eta.ts";
import type { Figures, Run } from "./run.ts";
import type { Launched } from "./worker-answers.ts";

/**
 * What is left. Stages are timed apart, since evidence makes a step several times longer: while one is still to come,
 * only a lower bound is known. Null before the first step.
 */
export function timeLeft({ points, stages, total, done, start }: Figures): Range | null {
  if (points.length === 0 || total === 0) return null;
  const mean = (part: readonly { seconds: number }[]): number =>
    part.reduce((sum, { seconds }) => sum + seconds, 0) / part.length;
  let low = 0;
  let high = 0;
  let left = total - done;
  const present = points.at(-1)!.stage;
  const own = points.filter(({ stage }) => stage === present);
  const parent = start?.parent?.step ?? 0;
  const before = stages.slice(0, present).reduce((sum, stage) => sum + (stage?.steps ?? 0), parent);
  const here = Math.min(left, Math.max(0, before + (stages[present]?.steps ?? 0) - done));
  low += here * mean(own);
  high += here * own.reduce((most, { seconds }) => Math.max(most, seconds), 0);
  left -= here;
  if (left > 0) {
    low += left * mean(points);
    high = Number.POSITIVE_INFINITY;
  }
  return { low, high };
}

/** Tokens that a run will read. */
export interface TokensToRead {
  teacherTokens: number | null;
  studentTokens: number | null;
}

/** What makes two runs alike in speed: where, on what, and with which models. */
export function speedKey({
  where,
  config,
  launched,
}: Pick<Run, "where" | "config"> & { launched?: Pick<Launched, "target"> }): string {
  const { teacher, student, teacher_dtype, device, compute, cards } = config;
  return JSON.stringify([
    where,
    launched?.target,
    teacher,
    student,
    teacher_dtype ?? "f32",
    device ?? "auto",
    compute ?? "f32",
    cards,
  ]);
}

/** Seconds of a run still to start, from the steps of earlier runs that were alike; null where there is none. */
export function timeExpected(
  { teacherTokens, studentTokens }: TokensToRead,
  alike: readonly Run[],
): (Range & { steps: number }) | null {
  if (teacherTokens === null || studentTokens === null) return null;
  const points = alike
    .flatMap(({ figures }) => figures.points)
    .filter((point) => point.teacherTokens > 0 && point.studentTokens > 0);
  if (points.length === 0) return null;
  const rates = (seconds: (typeof points)[number] extends infer P ? (point: P) => number : never) =>
    points.map(seconds).sort((a, b) => a - b);
  const teacher = rates((point) => point.teacherSeconds / point.teacherTokens);
  const student = rates((point) => Math.max(0, point.seconds - point.teacherSeconds) / point.studentTokens);
  const total = (at: 0 | -1): number => teacherTokens * teacher.at(at)! + studentTokens * student.at(at)!;
  return { low: total(0), high: total(-1), steps: points.length };
}
