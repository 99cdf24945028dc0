/**
 * A part of a library, drawn: how results depend on how many tasks have a success, and on how many failures there are.
 * Nothing is made up; recorded executions are left out.
 */
import { InputError } from "../errors.ts";
import { reportsSuccess } from "../record/standing.ts";
import { seedOf, uniforms } from "../seeded.ts";

export interface LibrarySubset {
  /** Share of tasks, 0 to 1, that keep their sampled successes; the others lose all of theirs. 1 when absent. */
  successTasks?: number;
  /** Share of sampled records without a success, 0 to 1, that are kept. 1 when absent. */
  failures?: number;
  /** Seed of the draws; 0 when absent. */
  seed?: number;
}

/** What a draw looks at: a record, or as much of it as an index keeps. */
export interface DrawnBy {
  environment: string;
  task: string;
  /** Source id. */
  source: string;
  outcome: { success: boolean; reported_success?: boolean };
}

/**
 * Which sampled records a subset keeps. A task draws once for its successes, and each other record for itself: from their
 * names and the seed alone, so that what a share keeps every larger one keeps, and a source budget changes no draw. A
 * claimed success counts as one, whether or not a replay confirmed it.
 *
 * @throws InputError for a share outside 0 to 1
 */
export function subsetFilter(subset: LibrarySubset): (record: DrawnBy) => boolean {
  const { successTasks = 1, failures = 1, seed = 0 } = subset;
  for (const share of [successTasks, failures])
    if (!(share >= 0 && share <= 1))
      throw new InputError(`expected a share of the library from 0 to 1, received ${share}`);
  return ({ environment, task, source, outcome }) => {
    const success = outcome.success || reportsSuccess({ outcome });
    const share = success ? successTasks : failures;
    if (share === 1) return true;
    const name = success ? ["success", environment, task] : ["failure", environment, task, source];
    return uniforms(seedOf(JSON.stringify([...name, seed])))() < share;
  };
}

/** One name for a subset; equal for those that keep the same. */
export function subsetKey({ successTasks = 1, failures = 1, seed = 0 }: LibrarySubset): readonly number[] {
  return successTasks === 1 && failures === 1 ? [] : [successTasks, failures, seed];
}
