import * as Comlink from "comlink";
import { expect, it } from "vitest";
import { describeFault } from "../../base/faults.ts";
import { installErrorTransfer } from "../../base/worker/transfer.ts";
import { WorkerAway } from "./read-answer.ts";

it("a worker that is away is the same line in another thread", () => {
  installErrorTransfer();
  const { serialize, deserialize } = Comlink.transferHandlers.get("throw")!;
  const away = new WorkerAway("model.safetensors");
  const [sent] = serialize({ value: away });
  let arrived: unknown;
  try {
    deserialize(structuredClone(sent));
  } catch (error) {
    arrived = error;
  }
  expect(describeFault(arrived)).toBe(away.message);
});
