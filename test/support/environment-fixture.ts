/** The recorded library of one environment, read whole: independent of the readers under test. */
import { resolve } from "node:path";
import { fixtureEpisodes, fixtureRetrievals, fixtureSources } from "./scienceworld.ts";

/** Folder of an environment's fixture. */
export const fixtureFolder = (environment: string): string =>
  resolve(import.meta.dirname, "../fixtures", environment);

/** Sources, student episodes and the expected retrieval of every decision. */
export function environmentFixture(environment: string) {
  const folder = fixtureFolder(environment);
  return {
    sources: fixtureSources(folder),
    episodes: fixtureEpisodes(folder),
    expected: fixtureRetrievals(folder),
  };
}
