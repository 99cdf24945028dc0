import { expect, it } from "vitest";
import type { AblationMatrix, Estimate } from "../../../core/statistics/index.ts";
import { ablationCsv, ablationMarkdown, estimateText, type ShownCell } from "./ablation-table.ts";

const none: Estimate = { value: null, interval: null };
const share: Estimate = { value: 0.25, interval: [0.125, 0.5] };
const MATRIX: AblationMatrix = {
  unit: "tokens",
  decisions: 8,
  clusters: { kind: "task", count: 4 },
  coverage: [1, 4, 8, 16, null].map((sourcesPerTask) => ({
    sourcesPerTask,
    covered: 1,
    coveredAugmented: 3,
  })),
  tasks: 4,
  cells: [],
  unmeasured: 0,
};
const CELLS: ShownCell[] = [1, 4, 8, 16, null].map((sourcesPerTask) => ({
  control: "graph",
  sourcesPerTask,
  figures: {
    matched: share,
    fallback: { value: 0, interval: null },
    referenced: share,
    evidence: { value: 1234.5, interval: null },
    delta: none,
  },
}));

it("writes a mean with its interval in the figure's own unit, and a dash for nothing", () => {
  expect(estimateText("matched", share)).toBe("25.0 % [12.5 %, 50.0 %]");
  expect(estimateText("evidence", CELLS[0]!.figures.evidence)).toBe("1,235");
  expect(estimateText("delta", { value: -0.5, interval: [-1, 0.25] })).toBe("−0.500 [−1.000, +0.250]");
  expect(estimateText("delta", none)).toBe("–");
});

it("lists what was counted, and no figure that was not", () => {
  const csv = ablationCsv(MATRIX, CELLS).trimEnd().split("\n");
  expect(csv).toContain("graph,4,matched,0.25,0.125,0.5");
  expect(csv).toContain("graph,all,evidence,1234.5,,");
  expect(csv).toContain(",all,coverage with planner and oracle,0.75,,");
  expect(csv.some((line) => line.includes("delta"))).toBe(false);
  for (const line of csv) expect(line.split(",")).toHaveLength(6);
  const markdown = ablationMarkdown("S", MATRIX, CELLS, ["graph"]);
  expect(markdown).toContain("| full graph | 25.0 % [12.5 %, 50.0 %] |");
  expect(markdown).toContain("| coverage | 25.0 % (75.0 %) |");
  expect(markdown).not.toContain("Mean Δ");
});
