import { expect, it } from "vitest";
import { ToyModel } from "../../../test/support/toy-model.ts";
import { DeviceError, InputError } from "../../core/errors.ts";
import { ReopeningScorer } from "./reopening-scorer.ts";

const REQUESTS = [{ id: "a", promptIds: [1, 2], responseIds: [3, 4] }];

/** Opens toy models that fail in the order of `plan`: `lost` when they score, `none` when they are opened. */
function devices(plan: ("ok" | "lost" | "none")[]) {
  const log: string[] = [];
  const open = async () => {
    const fate = plan.shift() ?? "ok";
    if (fate === "none") throw new InputError("no WebGPU device");
    const scorer = new ToyModel(1);
    if (fate === "lost")
      scorer.score = async () => {
        throw new DeviceError("The WebGPU device was lost.", "lost");
      };
    log.push("open");
    return { scorer, close: () => void log.push("close") };
  };
  return { log, open };
}

it("scores again on a reopened device, and tells", async () => {
  const { log, open } = devices(["lost", "none", "lost", "ok"]);
  const faults: string[] = [];
  const scorer = await ReopeningScorer.open(open, {
    onFault: ({ message }, attempt, attempts) => void faults.push(`${attempt}/${attempts} ${message}`),
  });
  expect(await scorer.score(REQUESTS)).toEqual(await new ToyModel(1).score(REQUESTS));
  expect(faults).toEqual([
    "1/3 The WebGPU device was lost.",
    "2/3 no WebGPU device",
    "3/3 The WebGPU device was lost.",
  ]);
  scorer.dispose();
  expect(log).toEqual(["open", "close", "open", "close", "open", "close"]);
});

it("gives up after as many attempts, and lets bad input through at once", async () => {
  const { open } = devices(["lost", "lost", "lost"]);
  const scorer = await ReopeningScorer.open(open, { attempts: 2 });
  await expect(scorer.score(REQUESTS)).rejects.toBeInstanceOf(DeviceError);
  const bad = new ToyModel(1);
  bad.score = async () => {
    throw new InputError("token id 99 is not in the vocabulary");
  };
  let closed = 0;
  const other = await ReopeningScorer.open(async () => ({ scorer: bad, close: () => void closed++ }));
  await expect(other.score(REQUESTS)).rejects.toThrow("token id 99");
  expect(closed).toBe(0);
  await expect(ReopeningScorer.open(devices(["none"]).open)).rejects.toThrow("no WebGPU device");
});
