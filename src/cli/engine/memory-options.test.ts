/** A plan at a terminal: every item, its sum, and each fact beside it. */
import { expect, it } from "vitest";
import { gibibytes, type MemoryPlan } from "../../tensor/index.ts";
import { planText } from "./memory-options.ts";

it("lists items by size with their total, and the facts of a run one per line", () => {
  const plan: MemoryPlan = {
    items: [
      { name: "rotary tables", part: "weights", bytes: 2 ** 20 },
      { name: "weights (f32)", part: "weights", bytes: 3 * 2 ** 30 },
    ],
    total: 3 * 2 ** 30 + 2 ** 20,
    largest: { name: "model.embed_tokens.weight", part: "weights", bytes: 2 ** 29 },
  };
  const text = planText(plan, {
    pack_tokens: { teacher: 4096, student: 1024 },
    device: { kind: "cpu", adapter: null },
    problem: null,
  });
  const lines = text.split("\n");
  expect(lines[2]).toMatch(/weights \(f32\).*3\.0+ GiB/);
  expect(lines[3]).toMatch(/rotary tables.*1\.0 MiB/);
  expect(lines[4]).toContain(`total`);
  expect(lines[4]).toContain(gibibytes(plan.total));
  expect(lines.slice(5)).toEqual([
    "",
    "largest tensor: model.embed_tokens.weight, 0.50 GiB",
    "pack tokens: teacher: 4096",
    "pack tokens: student: 1024",
    "device: kind: cpu",
  ]);
});
