import { expect, it } from "vitest";
import { configKey, differences, seedOf } from "./run-differences.ts";

const run = (id: string, config: Record<string, unknown>) => ({ id, where: "worker" as const, config });
const common = (id: string) => ({
  teacher: "t",
  student: "s",
  library: `/jobs/${id}/in/s.jsonl`,
  episodes: "e",
});

it("names the keys in which configs differ, with their defaults, and no other", () => {
  const [a, b] = ["train-00000000000a", "train-00000000000b"];
  const found = differences([
    run(a, { ...common(a), settings: { learning_rate: 0.001 } }),
    run(b, { ...common(b), batch_size: 4, control: "hindsight-only" }),
  ]);
  expect(found.map(({ key, values }) => [key, values.get(a), values.get(b)])).toEqual([
    ["control", undefined, "hindsight-only"],
    ["batch_size", "32", "4"],
    ["settings.learning_rate", "0.001", "0.00001"],
  ]);
  expect(differences([run(a, common(a))])).toEqual([]);
});

it("takes no batch for larger than the episodes that there are", () => {
  const of = (id: string, batch_size: number) =>
    run(id, { ...common(id), batch_size, episode_ids: ["e_1", "e_2"] });
  const [a, b] = ["train-00000000000a", "train-00000000000b"];
  expect(differences([of(a, 4), of(b, 32)])).toEqual([]);
  expect([...differences([of(a, 1), of(b, 32)])[0]!.values.values()]).toEqual(["1", "2"]);
});

it("compares configs that the schema refuses as they are written", () => {
  const found = differences([run("a", { unknown: [1, "x"] }), run("b", { unknown: [2] })]);
  expect(found.map(({ key, values }) => [key, ...values.values()])).toEqual([["unknown", "1, x", "2"]]);
});

it("puts seeds of one config together, and nothing else", () => {
  const [a, b] = ["train-00000000000a", "train-00000000000b"];
  const one = run(a, { ...common(a), seed: 1 });
  const other = run(b, common(b));
  expect(configKey(one)).toBe(configKey(other));
  expect([seedOf(one), seedOf(other)]).toEqual(["1", "42"]);
  expect(configKey(one)).not.toBe(configKey({ ...other, where: "page" }));
  expect(configKey(one)).not.toBe(configKey(run("c", { ...common("c"), batch_size: 2 })));
});
