import { expect, it } from "vitest";
import type { ModelState } from "../store.ts";
import { modelTitle } from "./model-picker.tsx";
import type { Opened } from "./models.ts";

const state = (model: string, origin: ModelState["origin"]): ModelState => ({
  info: { model, device: "cpu", adapter: "", dtype: "f32", parameters: 1, vocabulary: 2 },
  ...{ origin, steps: 0 },
});
const own: Opened = {
  folder: { name: "qwen3-a", files: new Map() },
  tokenizer: { tokenizerJson: "{}", file: "qwen3-a" },
  ...{ origin: "own", steps: 0 },
};

it("calls a model by its name, also one of the user's own that waits to be opened", () => {
  expect(modelTitle(state("teacher", "sample"), null, false)).toBe("teacher, the sample’s");
  expect(modelTitle(state("qwen3-a", "own"), own, false)).toBe("qwen3-a, your own");
  expect(modelTitle(null, own, false)).toBe("qwen3-a, opened when needed");
  expect(modelTitle(null, null, false)).toBe("the sample’s, opened when needed");
  expect(modelTitle(null, null, true)).toBe("trained in this browser, opened when needed");
});
