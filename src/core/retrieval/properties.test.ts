import { describe, expect, it } from "vitest";
import { library, rules, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import { bruteForceRetrieve } from "../../../test/support/brute-force-retrieval.ts";
import fc from "../../../test/support/property.ts";
import { visitsAt } from "../graph/task-graph.ts";
import type { Source } from "../record/schema.ts";
import { prepareTask } from "./prepare.ts";
import { retrieveEpisode } from "./retrieve.ts";

describe("properties", () => {
  it("equals plain search on random libraries, episodes and rules", () => {
    fc.assert(
      fc.property(library, studentEpisode, rules, (sources, episode, by) => {
        const found = retrieveEpisode(prepareTask(sources, by), episode);
        for (const { record } of found) {
          expect(record).toStrictEqual(bruteForceRetrieve(sources, episode, record.decision, by));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("does not depend on the order of the library", () => {
    const shuffled = library.chain((sources) =>
      fc.tuple(
        fc.constant(sources),
        fc.shuffledSubarray(sources, { minLength: sources.length, maxLength: sources.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, studentEpisode, rules, ([sources, other], episode, by) => {
        const records = (from: Source[]) =>
          retrieveEpisode(prepareTask(from, by), episode).map(({ record }) => record);
        expect(records(other)).toStrictEqual(records(sources));
      }),
    );
  });

  it("holds Proposition 2: a larger library keeps every candidate and never raises the least cost", () => {
    fc.assert(
      fc.property(library, fc.nat(6), rules, (sources, kept, by) => {
        const small = prepareTask(sources.slice(0, kept), by);
        const large = prepareTask(sources, by);
        small.graph.nodes.forEach((node, n) => {
          const before = small.state(n).candidates;
          const after = large.state(large.graph.index.get(node.key)!).candidates;
          expect(after).toEqual(expect.arrayContaining([...before]));
          if (before.length > 0) expect(after[0]!.cost).toBeLessThanOrEqual(before[0]!.cost);
        });
      }),
    );
  });

  it("explains what it recorded", () => {
    fc.assert(
      fc.property(library, studentEpisode, rules, (sources, episode, by) => {
        const task = prepareTask(sources, by);
        for (const { record, explanation } of retrieveEpisode(task, episode)) {
          const { matched } = explanation;
          expect(matched.length).toBe(visitsAt(task.graph, explanation.locator).length);
          for (const visit of matched) expect(visit.eligible).toBe(visit.reasons.length === 0);
          const ranked = matched.filter((visit) => visit.eligible).sort((a, b) => a.rank! - b.rank!);
          expect(ranked.map(({ source, position, cost }) => ({ source, position, cost }))).toEqual(
            record.candidates,
          );
          const places = ranked.map((visit) => visit.rank!);
          if (explanation.studentRank !== null) places.push(explanation.studentRank);
          expect(places.sort((a, b) => a - b)).toEqual(places.map((_, i) => i + 1));
          expect(record.winner?.kind === "student").toBe(explanation.studentRank === 1);
          if (record.success?.relation === "historical") {
            expect(explanation.anchor).toMatchObject({ studentPosition: record.success.student_position });
          }
          if (record.failure !== null && record.failure.position !== null) {
            expect(explanation.failed!.candidates[0]).toMatchObject({
              source: record.failure.source,
              position: record.failure.position,
            });
          }
          expect(explanation.sentence).toMatch(/^[A-Z0-9][^\n]*\.$/);
        }
      }),
    );
  });
});
