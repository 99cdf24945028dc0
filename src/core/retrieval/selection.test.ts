import { describe, expect, it } from "vitest";
import { library, rules, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import fc from "../../../test/support/property.ts";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import type { Source } from "../record/schema.ts";
import { prepareTask } from "./prepare.ts";
import { retrieveEpisode } from "./retrieve.ts";
import { isAugmentation, SOURCE_BUDGETS, type SourceSelection, selectSources } from "./selection.ts";

/** Libraries whose repetitions lie on both sides of every budget, some of their records augmentation. */
const mixed: fc.Arbitrary<Source[]> = fc
  .tuple(
    library,
    fc.infiniteStream(fc.nat(20)),
    fc.infiniteStream(fc.constantFrom(...(["teacher", "teacher", "planner", "oracle", "human"] as const))),
  )
  .map(([sources, repetitions, kinds]) =>
    sources.map((source) => ({
      ...source,
      repetition: repetitions.next().value!,
      origin: { kind: kinds.next().value! },
    })),
  );

const budget = fc.constantFrom<(number | undefined)[]>(...SOURCE_BUDGETS, undefined);
const selection: fc.Arbitrary<SourceSelection> = fc.record({
  sourcesPerTask: budget,
  augmentation: fc.boolean(),
});

const ids = (sources: readonly Source[]) => sources.map(({ source }) => source);

describe("source selection", () => {
  it("keeps sampled records with a repetition below K, and planner and oracle records by their own switch", () => {
    fc.assert(
      fc.property(mixed, selection, (sources, { sourcesPerTask, augmentation }) => {
        const kept = new Set(selectSources(sources, { sourcesPerTask, augmentation }));
        for (const source of sources) {
          const added = source.origin.kind === "planner" || source.origin.kind === "oracle";
          expect(isAugmentation(source)).toBe(added);
          expect(kept.has(source)).toBe(
            added ? augmentation : sourcesPerTask === undefined || source.repetition < sourcesPerTask,
          );
        }
        expect(selectSources(sources, {})).toEqual(sources);
      }),
    );
  });

  it("refuses a budget that is not a whole number from 1", () => {
    for (const sourcesPerTask of [0, -1, 1.5, Number.NaN]) {
      expect(() => selectSources([], { sourcesPerTask })).toThrow(InputError);
    }
  });

  it("takes the fixture's sixteen repetitions a task, and its planner only with augmentation", () => {
    const count = (options: SourceSelection) => selectSources(fixtureSources(), options).length;
    expect(SOURCE_BUDGETS.map((sourcesPerTask) => count({ sourcesPerTask, augmentation: false }))).toEqual([
      11, 44, 88, 176,
    ]);
    expect(count({ sourcesPerTask: 16 })).toBe(176 + 11);
    expect(count({ augmentation: false })).toBe(195 - 11);
    expect(count({})).toBe(195);
  });
});

describe("nested budgets", () => {
  it("never remove a candidate nor raise the least cost as K grows, or as augmentation is added (Proposition 2)", () => {
    fc.assert(
      fc.property(mixed, fc.nat(20), fc.nat(20), fc.boolean(), rules, (sources, a, b, augmentation, by) => {
        const [k, larger] = [Math.min(a, b) + 1, Math.max(a, b) + 1];
        const few = selectSources(sources, { sourcesPerTask: k, augmentation: false });
        const many = selectSources(sources, { sourcesPerTask: larger, augmentation });
        expect(ids(many)).toEqual(expect.arrayContaining(ids(few)));
        const [small, large] = [prepareTask(few, by), prepareTask(many, by)];
        small.graph.nodes.forEach((node, n) => {
          const before = small.state(n).candidates;
          const after = large.state(large.graph.index.get(node.key)!).candidates;
          expect(after).toEqual(expect.arrayContaining([...before]));
          if (before.length > 0) expect(after[0]!.cost).toBeLessThanOrEqual(before[0]!.cost);
        });
      }),
    );
  });

  it("hold decision by decision on the fixture: more candidates, no greater cost, no lost match", () => {
    const tasks = byTask(fixtureSources());
    const by = environmentRules("scienceworld");
    const matched = SOURCE_BUDGETS.map(() => 0);
    for (const episode of fixtureEpisodes()) {
      const records = SOURCE_BUDGETS.map((sourcesPerTask) => {
        const sources = selectSources(tasks.get(episode.task)!, { sourcesPerTask, augmentation: false });
        return retrieveEpisode(prepareTask(sources, by), episode).map(({ record }) => record);
      });
      episode.decisions.forEach((_, t) => {
        SOURCE_BUDGETS.forEach((_, k) => {
          const record = records[k]![t]!;
          if (record.matched_visits > 0) matched[k]!++;
          const smaller = records[k - 1]?.[t];
          if (smaller === undefined) return;
          expect(record.matched_visits).toBeGreaterThanOrEqual(smaller.matched_visits);
          expect(record.candidates).toEqual(expect.arrayContaining(smaller.candidates));
          if (smaller.candidates.length > 0) {
            expect(record.candidates[0]!.cost).toBeLessThanOrEqual(smaller.candidates[0]!.cost);
          }
        });
      });
    }
    expect(matched).toEqual([...matched].sort((a, b) => a - b));
    expect(matched[0]).toBeLessThan(matched.at(-1)!);
  });
});

describe("controls of retention", () => {
  it("take failures, or all external records, out of what the graph retains, and nothing else", () => {
    fc.assert(
      fc.property(mixed, studentEpisode, rules, (sources, episode, by) => {
        const task = prepareTask(sources, by);
        const records = (options: Parameters<typeof retrieveEpisode>[2]) =>
          retrieveEpisode(task, episode, options).map(({ record }) => record);
        const full = records({});
        expect(records({ control: "graph" })).toStrictEqual(full);
        expect(records({ control: "success-only" })).toStrictEqual(
          full.map((record) => ({ ...record, failure: null })),
        );
        expect(records({ control: "hindsight-only" })).toStrictEqual(
          full.map((record) => ({ ...record, success: null, failure: null })),
        );
      }),
    );
  });

  it("success only is what a library without its failed records gives, but for the visits that these match", () => {
    fc.assert(
      fc.property(mixed, studentEpisode, rules, (sources, episode, by) => {
        // Untrusted records stay: they are not failed records, though they can be an unverified fallback.
        const trustedFailure = ({ outcome }: Source) =>
          outcome.complete && outcome.verified && !outcome.success && !(outcome.reported_success ?? false);
        const without = sources.filter((source) => !trustedFailure(source));
        const control = { control: "success-only" } as const;
        const full = retrieveEpisode(prepareTask(sources, by), episode, control);
        const fewer = retrieveEpisode(prepareTask(without, by), episode, control);
        full.forEach(({ record }, t) => {
          const other = fewer[t]!.record;
          expect(other.candidates).toEqual(record.candidates);
          expect(other.winner).toEqual(record.winner);
          // A failed record can be all that makes the state a matched one, which a successful student's retention reads.
          if (other.case === record.case) expect(other.success).toEqual(record.success);
          else
            expect([record.case, other.case]).toEqual([
              "matched_no_success",
              expect.stringMatching(/^unmatched/),
            ]);
        });
      }),
    );
  });
});
