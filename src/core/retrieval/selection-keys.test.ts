import { expect, it } from "vitest";
import fc from "../../../test/support/property.ts";
import { CONTROLS } from "./selection.ts";
import { keysOfSelection, selectionOfKeys } from "./selection-keys.ts";

const controls = fc.record(
  {
    control: fc.constantFrom(...CONTROLS),
    sourcesPerTask: fc.integer({ min: 1 }),
    augmentation: fc.boolean(),
    terminalFailureNote: fc.boolean(),
    subset: fc.record(
      { successTasks: fc.double({ min: 0, max: 1 }), failures: fc.constant(0.5), seed: fc.nat() },
      { requiredKeys: [], noNullPrototype: true },
    ),
  },
  { requiredKeys: [] },
);

it("reads the keys of a selection back, and leaves what is absent absent", () => {
  fc.assert(
    fc.property(controls, (selection) => {
      expect(selectionOfKeys(keysOfSelection(selection))).toStrictEqual({ ...selection });
    }),
  );
  expect(keysOfSelection({ sourcesPerTask: undefined, without: ["a"] })).toStrictEqual({});
});
