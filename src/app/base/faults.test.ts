import { expect, it } from "vitest";
import { DeviceError, InputError } from "../../core/errors.ts";
import { describeFault } from "./faults.ts";

it("says of a lost device alone that the next work opens another", () => {
  const lost = new DeviceError("The WebGPU device was lost (unknown: reset).", "lost");
  expect(describeFault(lost)).toBe(
    "The WebGPU device was lost (unknown: reset). The next work opens another.",
  );
  const memory = new DeviceError("WebGPU ran out of memory: use smaller packs", "memory");
  expect(describeFault(memory)).toBe(memory.message);
  const input = new InputError("expected a number");
  expect(describeFault(input)).toBe(input.message);
});
