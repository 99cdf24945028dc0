import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { FileFaults } from "../../../test/support/file-faults.ts";
import { InputError } from "../../core/errors.ts";
import { CHECKPOINT_FORMAT } from "../../core/loop/checkpoint.ts";
import type { Stage } from "../../core/method/index.ts";
import { DiskCheckpoints } from "./checkpoints.ts";
import { openParent } from "./parent.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-parent-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const DEPTH = { stage: 0, average: 3.4 };

/** A run that ended after an epoch of its first stage, four steps. */
async function parentRun(): Promise<void> {
  const header = new TextEncoder().encode(JSON.stringify({ __metadata__: { steps: "4" } }));
  const optimizer = new Uint8Array(8 + header.length);
  new DataView(optimizer.buffer).setBigUint64(0, BigInt(header.length), true);
  optimizer.set(header, 8);
  await new DiskCheckpoints(join(folder, "checkpoints"), 1).save(
    {
      ...{ format: CHECKPOINT_FORMAT, step: 4, position: { stage: 0, epoch: 1, batch: 0 } },
      ...{ fingerprint: {}, depth: DEPTH },
    },
    async (writer) => {
      await writer.write("config.json", [new TextEncoder().encode("{}")]);
      await writer.write("optimizer.safetensors", [optimizer]);
      await writer.commit();
    },
  );
}

it("hands its moving average of the depth to a child that goes on in the middle of the stage, and to no other", async () => {
  await parentRun();
  const child = (...stages: Partial<Stage>[]) =>
    openParent(
      folder,
      { student: "student" },
      {
        ...{ id: "test", description: "" },
        stages: stages.map((stage) => ({ name: "s", epochs: 1, evidence: { kind: "none" }, ...stage })),
      },
    );
  expect(await child({ firstEpoch: 1 })).toMatchObject({ step: 4, depth: DEPTH });
  // It begins with a whole stage, with an average of its own.
  expect(await child({})).not.toHaveProperty("depth");
  expect(await child({ epochs: 0 }, {})).not.toHaveProperty("depth");
});

it("is found as it is or not at all, whatever reading goes wrong", async () => {
  await parentRun();
  writeFileSync(join(folder, "config.json"), JSON.stringify({ sample: {} }));
  const found = () => openParent(folder, { student: "student" }, { id: "test", description: "", stages: [] });
  const whole = await found();
  expect(whole.endOfTurn).toBe(true);
  const files = await FileFaults.install();
  try {
    for (const fault of ["short", "EIO", "EMFILE"] as const)
      await files.each(
        fault,
        () => folder,
        async () => {
          const parent = await found().catch((error: unknown) => error);
          if (files.injected === null || fault === "short") expect(parent).toEqual(whole);
          else expect(parent).toBeInstanceOf(InputError);
        },
      );
    expect(files.unreached(FAULTED["src/cli/train/parent.test.ts"])).toEqual([]);
  } finally {
    files.restore();
  }
});
