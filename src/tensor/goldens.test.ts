import { afterAll, expect, test } from "vitest";
import { GOLDEN_CHECKS } from "../../test/goldens.ts";
import { openModelFixture } from "../../test/model-fixtures.ts";
import { createReferenceBackend } from "./reference/index.ts";

const backend = createReferenceBackend();

test.each(GOLDEN_CHECKS)("$name", async ({ run }) => {
  const deviations = await run({ backend, open: openModelFixture });
  expect(Object.keys(deviations).length).toBeGreaterThan(0);
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

afterAll(() => backend.dispose());
