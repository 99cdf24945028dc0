/** The one sentence that says why: for every kind of case in the fixtures, with the numbers of the record. */
import { describe, expect, it } from "vitest";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import { byTask } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../environment/environment.ts";
import type { Reference } from "../record/schema.ts";
import { prepareTask } from "./prepare.ts";
import { retrieveEpisode } from "./retrieve.ts";
import type { Retrieval } from "./types.ts";

const all: Retrieval[] = ["scienceworld", "alfworld", "webshop"].flatMap((environment) => {
  const { sources, episodes } = environmentFixture(environment);
  const prepared = new Map(
    [...byTask(sources)].map(([task, records]) => [
      task,
      prepareTask(records, environmentRules(environment)),
    ]),
  );
  return episodes.flatMap((episode) => retrieveEpisode(prepared.get(episode.task)!, episode));
});

const of = (test: (retrieval: Retrieval) => boolean): Retrieval[] => all.filter(test);
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

describe("the sentence that says why", () => {
  it("is one line, and never longer than can be read at once", () => {
    for (const { explanation } of all) {
      expect(explanation.sentence).toMatch(/^[A-Z0-9][^\n]{20,600}\.$/);
      expect(explanation.sentence).not.toMatch(/undefined|null|NaN|\s{2}/);
      // As the page has them: typographic apostrophes, and "visit" for a place in a recorded execution.
      expect(explanation.sentence).not.toMatch(/'|position/);
    }
  });

  it("names the winner with visit, cost and what it was ranked against", () => {
    const won = of(({ record }) => record.winner?.kind === "source");
    expect(won.length).toBeGreaterThan(500);
    for (const { record, explanation } of won) {
      if (record.winner?.kind !== "source") continue;
      const { source, position, cost } = record.winner;
      expect(explanation.sentence).toContain(
        `${source} wins from its visit ${position} with ${cost} decision`,
      );
      if (explanation.studentCost !== null) {
        expect(explanation.sentence).toContain(
          `the student’s own continuation takes ${explanation.studentCost}`,
        );
      }
      const tied = record.candidates.filter((each) => each.cost === cost).length;
      if (tied > 1) expect(explanation.sentence).toContain(`${tied} recorded visits tie at this cost: the `);
    }
  });

  it.each(["repetition", "external over student"] as const)("says that %s broke a tie", (tie) => {
    const broken = of(({ explanation }) => explanation.tie === tie);
    expect(broken.length).toBeGreaterThan(0);
    for (const { explanation } of broken) expect(explanation.sentence).toMatch(/ goes (first|before)/);
  });

  it("says when the student itself is nearer to success", () => {
    const own = of(({ record }) => record.winner?.kind === "student");
    expect(own.length).toBeGreaterThan(10);
    for (const { record, explanation } of own) {
      expect(explanation.sentence).toContain(
        `own continuation wins with ${record.winner!.cost} decision${record.winner!.cost === 1 ? "" : "s"} left, fewer than`,
      );
      expect(explanation.sentence).toContain("no external record is retained");
    }
  });

  it("gives the reason where matched visits are not eligible", () => {
    const rejected = of(({ record }) => record.case === "matched_no_success");
    expect(rejected.length).toBeGreaterThan(20);
    for (const { explanation } of rejected)
      expect(explanation.sentence).toMatch(/(is not|none is) eligible, .*because/);
  });

  const RELATIONS: Record<Reference["relation"], RegExp> = {
    current:
      /which shares this state at its visit \d+ \((the only|the closest of \d+) failed visits? there, /,
    historical: /whose visit \d+ shares the state of the student’s earlier decision \d+ \(.*\d+|same step/,
    unaligned:
      /the shortest (eligible success|trusted success|trusted failure) of the task, not aligned with the student \(no .*; it has \d+ decisions?\)/,
    unverified:
      /a raw record \((it is incomplete|it is not verified by replay|it is incomplete and it is not verified by replay|replay did not confirm its claimed success)\), not aligned with the student \(no .*it has \d+/,
  };

  for (const side of ["success", "failure"] as const) {
    it.each(["current", "historical", "unaligned", "unverified", "none"] as const)(
      `tells of a ${side} reference that is %s`,
      (relation) => {
        const found = of(
          ({ record }) =>
            record.winner === null &&
            record.case !== "unmatched_success" &&
            (record[side]?.relation ?? "none") === relation,
        );
        // Where no visit is eligible a success cannot be at the current state.
        if (side === "success" && relation === "current") return expect(found).toEqual([]);
        expect(found.length, "in the fixtures").toBeGreaterThan(0);
        const label = side === "success" ? "successful record: " : "failed record: ";
        for (const { record, explanation } of found) {
          const part = explanation.sentence.split(label)[1]!.split(/; (?=failed record)/)[0]!;
          if (relation === "none") expect(part).toMatch(/^none available \(no /);
          else {
            expect(part).toMatch(RELATIONS[relation]);
            expect(part).toMatch(new RegExp(`^${escaped(record[side]!.source)}\\b`));
          }
        }
      },
    );
  }

  it("says that a student that succeeded without a match is shown alone", () => {
    const alone = of(({ record }) => record.case === "unmatched_success");
    expect(alone.length).toBeGreaterThan(10);
    for (const { explanation } of alone)
      expect(explanation.sentence).toContain("its own execution is used alone");
  });
});
