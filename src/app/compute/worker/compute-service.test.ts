import { openAsBlob } from "node:fs";
import { expect, it } from "vitest";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { ComputeService } from "./compute-service.ts";

async function sampleTeacher(): Promise<FolderFiles> {
  const files = await Promise.all(
    ["config.json", "model.safetensors"].map(
      async (name) => [name, new File([await openAsBlob(`public/sample/teacher/${name}`)], name)] as const,
    ),
  );
  return { name: "teacher", files: new Map(files) };
}

it("forgets the teacher with the device that it was on", async () => {
  const service = new ComputeService();
  await service.start("cpu");
  await service.load("teacher", await sampleTeacher(), { weights: "f32", passes: {} }, () => undefined);
  expect(await service.reopen()).not.toBeNull();
  await service.start("cpu");
  expect(await service.reopen()).toBeNull();
});
