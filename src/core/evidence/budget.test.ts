import { describe, expect, it } from "vitest";
import { EPISODE, inputFor } from "../../../test/support/evidence-records.ts";
import type { Episode } from "../record/schema.ts";
import { backReferences } from "./back-references.ts";
import { fitEvidence } from "./budget.ts";
import { renderEvidence } from "./render.ts";

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
  const countTokens = (text: string) => text.length;
  const plain = renderEvidence(input).text.length;
  const short = renderEvidence(input, { backReferences: true }).text.length;

  it("is plain within the budget, has back-references over it, and fails rather than cut", () => {
    expect(short).toBeLessThan(plain);
    expect(fitEvidence({ ...input, countTokens, limit: plain })).toEqual({
      ...renderEvidence(input),
      tokens: plain,
    });
    const fitted = fitEvidence({ ...input, countTokens, limit: plain - 1 });
    expect(fitted).toMatchObject({ backReferences: true, tokens: short });
    expect(fitEvidence({ ...input, countTokens, limit: short }).text.split("a table").length - 1).toBe(1);
    expect(() => fitEvidence({ ...input, countTokens, limit: short - 1 })).toThrow(
      `does not fit: ${plain} tokens, ${short} with back-references, limit ${short - 1}`,
    );
  });
});
