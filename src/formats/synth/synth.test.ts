import { describe, expect, it } from "vitest";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../../core/environment/environment.ts";
import { graphStatistics } from "../../core/graph/statistics.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { prepareTask } from "../../core/retrieval/prepare.ts";
import { retrieveEpisode } from "../../core/retrieval/retrieve.ts";
import { checkRecord } from "../read.ts";
import { synthEpisodes, synthSources } from "./index.ts";

const OPTIONS = { tasks: 120, sources: 16, episodes: 240, seed: 11 };
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Figures of a library and its episodes that the generator is to meet. */
function figures(sources: readonly Source[], episodes: readonly Episode[]) {
  const decisions = sources.flatMap((source) => source.decisions);
  const taken = episodes.flatMap((episode) => episode.decisions);
  const totals = { visits: 0, states: 0, shared: 0 };
  let matched = 0;
  for (const [task, records] of byTask([...sources])) {
    const prepared = prepareTask(records, environmentRules("scienceworld"));
    const counts = graphStatistics(prepared.graph);
    totals.visits += counts.visits;
    totals.states += counts.states;
    totals.shared += counts.sharedStates;
    for (const episode of episodes) {
      if (episode.task !== task) continue;
      matched += retrieveEpisode(prepared, episode).filter(({ record }) => record.matched_visits > 0).length;
    }
  }
  const share = (list: readonly { status: string }[], status: string) =>
    list.filter((decision) => decision.status === status).length / list.length;
  return {
    decisionsPerSource: decisions.length / sources.length,
    decisionsPerEpisode: taken.length / episodes.length,
    observation: mean(decisions.map(({ observation }) => observation.length)),
    feedback: mean(decisions.map(({ feedback }) => feedback.length)),
    prompt: mean(taken.map(({ prompt }) => prompt!.length)),
    response: mean(taken.map(({ response }) => response!.length)),
    attempts: mean(decisions.map(({ attempts }) => attempts.length)),
    success: mean(sources.map(({ outcome }) => Number(outcome.success))),
    episodeSuccess: mean(episodes.map(({ outcome }) => Number(outcome.success))),
    statesPerVisit: totals.states / totals.visits,
    sharedPerState: totals.shared / totals.states,
    matched: matched / taken.length,
    rejected: share(taken, "rejected"),
    malformed: share(taken, "malformed"),
    line: mean(sources.map((source) => JSON.stringify(source).length)),
  };
}

describe("synthetic records", () => {
  const sources = [...synthSources(OPTIONS)];
  const episodes = [...synthEpisodes(OPTIONS)];

  it("are valid records with unique ids, in the counts asked for", () => {
    for (const source of sources) checkRecord("source", structuredClone(source), { file: "s", line: 1 });
    for (const episode of episodes) checkRecord("episode", structuredClone(episode), { file: "e", line: 1 });
    expect(sources).toHaveLength(120 * 16);
    expect(new Set(sources.map(({ task, source }) => `${task} ${source}`)).size).toBe(sources.length);
    expect(new Set(episodes.map(({ episode }) => episode)).size).toBe(240);
    expect(new Set(sources.map(({ task }) => task)).size).toBe(120);
  });

  it("are the same for the same seed, and a smaller library is the beginning of a larger one", () => {
    expect([...synthSources({ ...OPTIONS, tasks: 3 })]).toEqual(sources.slice(0, 48));
    expect([...synthEpisodes({ ...OPTIONS, episodes: 5 })]).toEqual(episodes.slice(0, 5));
    expect([...synthSources({ ...OPTIONS, tasks: 1, seed: 12 })]).not.toEqual(sources.slice(0, 16));
  });

  it("have the figures of the recorded executions", () => {
    const made = figures(sources, episodes);
    const recorded = figures(fixtureSources(), fixtureEpisodes());
    // Rates within a quarter of the recorded ones; counts of states within two fifths, as tasks differ much in them.
    for (const key of Object.keys(recorded) as (keyof typeof recorded)[]) {
      const wide = key === "statesPerVisit" || key === "sharedPerState";
      expect(Math.abs(made[key] / recorded[key] - 1), key).toBeLessThan(wide ? 0.4 : 0.25);
    }
    const statuses = new Set(sources.flatMap(({ decisions }) => decisions.map(({ status }) => status)));
    expect(statuses).toContain("binding");
    expect(sources.some(({ decisions }) => decisions.some((decision) => decision.gap_before))).toBe(true);
    expect(sources.some(({ decisions }) => decisions.some((decision) => decision.state === null))).toBe(true);
    expect(sources.some(({ outcome }) => !outcome.complete)).toBe(true);
    expect(sources.some(({ outcome }) => !outcome.verified)).toBe(true);
  });

  it("refuses counts that are none", () => {
    expect(() => synthSources({ ...OPTIONS, tasks: -1 }).next()).toThrow(/tasks: expected a whole number/);
    expect(() => synthEpisodes({ ...OPTIONS, tasks: 0 }).next()).toThrow(/episodes need a task/);
    expect(() => synthSources({ ...OPTIONS, seed: 2 ** 31 }).next()).toThrow(/seed/);
  });
});
