import { describe, expect, it } from "vitest";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import { environmentRules } from "../environment/environment.ts";
import { evidenceInput } from "../evidence/evidence-input.ts";
import { renderEvidence } from "../evidence/render.ts";
import { prepareTask } from "../retrieval/prepare.ts";
import { retrieveEpisode } from "../retrieval/retrieve.ts";
import { CHARACTERS, type EvidenceMeter, EvidenceSizer } from "./evidence-sizes.ts";

const { sources, episodes } = environmentFixture("scienceworld");
const TASK = "melt|12|easy";
const prepared = prepareTask(
  sources.filter(({ task }) => task === TASK),
  environmentRules("scienceworld"),
);
const inputs = episodes
  .filter(({ task }) => task === TASK)
  .flatMap((episode) =>
    retrieveEpisode(prepared, episode).map(({ record }) => evidenceInput(prepared, episode, record)),
  );
const plain = inputs.map((input) => renderEvidence(input).text.length);
const short = inputs.map((input) => renderEvidence(input, { backReferences: true }).text.length);

function sizes(meter: EvidenceMeter) {
  const sizer = new EvidenceSizer(meter);
  for (const input of inputs) sizer.add(input);
  return sizer.result();
}

const budgeted = (limit: number, prompt: number | null = 0): EvidenceMeter => ({
  ...CHARACTERS,
  budget: () => ({ limit, prompt }),
});

describe("evidence sizes", () => {
  it("are mean, nearest-rank 95th percentile and maximum of R_t in characters", () => {
    const sorted = [...plain].sort((a, b) => a - b);
    const found = sizes(CHARACTERS);
    expect(found).toMatchObject({
      unit: "characters",
      decisions: plain.length,
      budget: null,
      values: sorted,
    });
    expect(found.mean).toBeCloseTo(plain.reduce((sum, size) => sum + size, 0) / plain.length, 6);
    expect(found.max).toBe(Math.max(...plain));
    const within = (size: number) => plain.filter((other) => other <= size).length / plain.length;
    expect(within(found.p95!)).toBeGreaterThanOrEqual(0.95);
    expect(sorted.filter((size) => size < found.p95!).every((size) => within(size) < 0.95)).toBe(true);
  });

  it("count what needs back-references, and what does not fit even so; prompts count too", () => {
    const limit = [...short].sort((a, b) => a - b)[Math.floor(short.length / 2)]!;
    const over = plain.filter((size) => size > limit).length;
    const refused = plain.filter((size, i) => size > limit && short[i]! > limit).length;
    expect(refused).toBeGreaterThan(0);
    expect(over).toBeGreaterThan(refused);
    const found = sizes(budgeted(limit));
    expect(found.budget).toEqual({ over, refused, withoutPrompt: 0 });
    expect(found.values).toEqual(
      plain.map((size, i) => (size > limit ? short[i]! : size)).sort((a, b) => a - b),
    );
    expect(sizes(budgeted(limit + 100, 100))).toEqual(found);
    expect(sizes(budgeted(limit, null)).budget).toEqual({ over, refused, withoutPrompt: plain.length });
    expect(sizes(budgeted(Math.max(...plain))).budget).toEqual({ over: 0, refused: 0, withoutPrompt: 0 });
  });

  it("of no decision are null", () => {
    expect(new EvidenceSizer(CHARACTERS).result()).toEqual({
      unit: "characters",
      decisions: 0,
      mean: null,
      p95: null,
      max: null,
      budget: null,
      values: [],
      unmeasured: [],
    });
  });
});
