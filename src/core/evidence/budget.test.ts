import { describe, expect, it } from "vitest";
import { EPISODE, inputFor } from "../../../test/support/evidence-records.ts";
import type { Episode } from "../record/schema.ts";
import { backReferences } from "./back-references.ts";
import { fitEvidence } from "./budget.ts";
import { evidenceInsert } from "./insert.ts";
import { renderEvidence } from "./render.ts";
import type { Evidence } from "./types.ts";

describe("backReferences", () => {
  it("names repeated texts in order, where it saves something, and avoids names that the evidence holds", () => {
    const long = "a".repeat(60);
    const other = "b".repeat(60);
    const { names, prefix } = backReferences(
      ["short", long, other, "short", long, other, "c".repeat(90)],
      "",
    );
    expect(prefix).toBe("OBS");
    expect([...names]).toEqual([
      [long, "[OBS1]"],
      [other, "[OBS2]"],
    ]);
    expect(backReferences([long, long], "see [OBS and [OBS_2]").names.get(long)).toBe("[OBS__1]");
  });
});

describe("fitEvidence", () => {
  const repeated = "A room with many things in it, described at some length.\n\ta table\n\ta chair";
  const episode: Episode = {
    ...EPISODE,
    decisions: [0, 1, 2, 3].map(() => ({
      ...EPISODE.decisions[0]!,
      observation: repeated,
      feedback: repeated,
    })),
  };
  const input = inputFor([], episode, 2);
  const encode = (text: string) => Array.from({ length: text.length }, () => 1);
  const promptTokens = 100;
  const fitted = (limit: number) => fitEvidence(input, { promptTokens, encode, limit });
  const tokens = (evidence: Evidence) => promptTokens + evidenceInsert(evidence.text).length;
  const plain = tokens(renderEvidence(input));
  const short = tokens(renderEvidence(input, { backReferences: true }));

  it("is plain within the budget, has back-references over it, and fails rather than cut", () => {
    expect(short).toBeLessThan(plain);
    expect(fitted(plain).evidence).toEqual(renderEvidence(input));
    expect(fitted(plain).insertIds).toHaveLength(plain - promptTokens);
    const { evidence, insertIds } = fitted(plain - 1);
    expect([evidence.backReferences, insertIds.length]).toEqual([true, short - promptTokens]);
    expect(fitted(short).evidence.text.split("a table").length - 1).toBe(1);
    expect(() => fitted(short - 1)).toThrow(
      `does not fit: ${plain} tokens, ${short} with back-references, limit ${short - 1}`,
    );
  });
});
