import { expect, it } from "vitest";
import { distributionOf as of } from "../../../../test/support/distributions.ts";
import { tokenScores } from "../../../../test/support/token-scores.ts";
import { shippedScores } from "../models/shipped-scores.ts";
import { type Side, tokenPlace } from "../side.ts";
import { setUi } from "../store.ts";
import { furtherLogprobs, keptRows, unknownListed, wantedOf } from "./known-distribution.ts";

const one = of([1, 2, 3, 4]);
const other = of([2, 9, 3, 4]);

it("finds what another side lists and this one does not know, place by place", () => {
  expect(unknownListed(one, [one, other])).toEqual([{ position: 0, id: 9 }]);
  expect(unknownListed(other, [one, other])).toEqual([{ position: 0, id: 1 }]);
  expect(unknownListed(one, [one])).toEqual([]);
  const told = { ...one, further: new Map([[tokenPlace(0, 9), -3]]) };
  expect(unknownListed(told, [one, other])).toEqual([]);
});

it("asks for them with the hidden row of their place", async () => {
  const asked: [number[], number[]][] = [];
  const further = await furtherLogprobs(
    one,
    [
      { position: 1, id: 7 },
      { position: 1, id: 8 },
    ],
    Float32Array.of(10, 11, 20, 21),
    async (rows, ids) => {
      asked.push([[...rows], ids]);
      return Float32Array.from(ids, (id) => -id);
    },
  );
  expect(asked).toEqual([
    [
      [20, 21, 20, 21],
      [7, 8],
    ],
  ]);
  expect([...further]).toEqual([
    [tokenPlace(1, 7), -7],
    [tokenPlace(1, 8), -8],
  ]);
});

it("asks an export for whole distributions of short responses only, and our own engine for hidden states always", () => {
  expect(wantedOf({ architecture: "qwen3", vocabulary: 151_936 }, 500).hidden).toBe(true);
  expect(wantedOf({ vocabulary: 151_936 }, 500).hidden).toBe(false);
  expect(wantedOf({ vocabulary: 151_936 }, 100).hidden).toBe(true);
  expect(wantedOf({ vocabulary: 0 }, 65)).toEqual({ topK: 64, entropy: true, hidden: false });
});

it("copies as many wide rows at once as fit", async () => {
  const width = 2 ** 21;
  const calls: number[] = [];
  const missing = [5, 6, 7].map((id) => ({ position: 0, id }));
  await furtherLogprobs(one, missing, new Float32Array(one.entropy.length * width), async (rows, ids) => {
    calls.push(ids.length);
    return new Float32Array(rows.length / width);
  });
  expect(calls).toEqual([2, 1]);
});

it("lets rows go with the last side that names them, and keeps those of a pass under way", () => {
  const side: Side = {
    ...{ key: "vanilla", label: "", ids: [1, 2], logprobs: [-1, -1], promptIds: [0], model: "teacher" },
    provenance: { engine: null, file: null, tokenizer: null, template: null, seconds: 1 },
    distribution: { ...one, rows: "its" },
  };
  const scores = tokenScores(side);
  const none = new Float32Array();
  keptRows.set("its", none);
  keptRows.set("under way", none);
  setUi({ scores: { a: scores } });
  setUi({ scores: { b: scores } });
  expect(keptRows.get("its")).toBe(none);
  shippedScores.set("sample", { scores: { b: scores }, beside: [] });
  setUi({ scores: {} });
  expect(keptRows.get("its")).toBe(none);
  shippedScores.clear();
  setUi({ scores: { b: scores } });
  setUi({ scores: {} });
  expect(keptRows.keys()).toEqual(["under way"]);
});
