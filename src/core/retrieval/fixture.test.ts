import { describe, expect, it } from "vitest";
import { bruteForceRetrieve } from "../../../test/support/brute-force-retrieval.ts";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import { byTask } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../environment/environment.ts";
import { prepareTask } from "./prepare.ts";
import { retrieve, retrieveEpisode } from "./retrieve.ts";

describe.each([
  ["scienceworld", 1699],
  ["alfworld", 495],
  ["webshop", 262],
])("the %s fixture", (environment, decisions) => {
  const rules = environmentRules(environment);
  const fixture = environmentFixture(environment);
  const { episodes, expected } = fixture;
  const sources = byTask(fixture.sources);
  const prepared = new Map([...sources].map(([task, records]) => [task, prepareTask(records, rules)]));

  it("gives every field of every expected record, in order", () => {
    const records = episodes.flatMap((episode) =>
      retrieveEpisode(prepared.get(episode.task)!, episode).map(({ record }) => record),
    );
    expect(records.length).toBe(decisions);
    // Records one by one: a failing one is named, and key sets are compared exactly.
    records.forEach((record, i) => {
      expect(record, `${record.episode} decision ${record.decision}`).toStrictEqual(expected[i]);
    });
  });

  it("gives the same for a single decision as for its episode", () => {
    for (const episode of episodes) {
      const task = prepared.get(episode.task)!;
      const all = retrieveEpisode(task, episode);
      for (const t of [0, 1, Math.floor(all.length / 2), all.length - 1]) {
        const { record, explanation } = retrieve(task, episode, t);
        expect(record).toStrictEqual(all[t]!.record);
        expect(explanation).toStrictEqual(all[t]!.explanation);
      }
    }
  });

  it("agrees with plain search, the library in any order", () => {
    for (const episode of episodes) {
      const reversed = [...sources.get(episode.task)!].reverse();
      const found = retrieveEpisode(prepareTask(reversed, rules), episode);
      for (const { record } of found) {
        expect(bruteForceRetrieve(reversed, episode, record.decision, rules)).toStrictEqual(record);
      }
      expect(found.map(({ record }) => record)).toStrictEqual(
        expected.filter((record) => record.episode === episode.episode),
      );
    }
  });

  it("keeps what the record says under the controls, and takes away only what they leave out", () => {
    for (const episode of episodes) {
      const task = prepared.get(episode.task)!;
      const full = retrieveEpisode(task, episode);
      const successOnly = retrieveEpisode(task, episode, { control: "success-only" });
      const hindsight = retrieveEpisode(task, episode, { control: "hindsight-only" });
      full.forEach(({ record }, t) => {
        expect(successOnly[t]!.record).toStrictEqual({ ...record, failure: null });
        expect(hindsight[t]!.record).toStrictEqual({ ...record, success: null, failure: null });
      });
    }
  });
});
