import { openAsBlob } from "node:fs";
import { expect, it } from "vitest";
import { Pending } from "../../../../test/support/fake.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { Role } from "../store.ts";
import { ComputeService } from "./compute-service.ts";

async function sample(role: Role): Promise<FolderFiles> {
  const files = await Promise.all(
    ["config.json", "model.safetensors"].map(
      async (name) => [name, new File([await openAsBlob(`public/sample/${role}/${name}`)], name)] as const,
    ),
  );
  return { name: role, files: new Map(files) };
}

const OPTIONS = { weights: "f32", passes: {} } as const;
const IGNORED = () => undefined;

it("forgets the teacher with the device that it was on", async () => {
  const service = new ComputeService();
  await service.start("cpu");
  await service.load("teacher", await sample("teacher"), OPTIONS, IGNORED);
  expect(await service.reopen()).not.toBeNull();
  await service.start("cpu");
  expect(await service.reopen()).toBeNull();
});

it("a student that is being kept scores, and nothing takes, changes or closes it until it is", async () => {
  const service = new ComputeService();
  await service.start("cpu");
  const opened = await sample("student");
  await service.load("student", opened, OPTIONS, IGNORED);
  const { student, start } = await service.takeStudent();
  expect(start).toBe(opened);
  const written = new Pending<FolderFiles>();
  service.keepStudent(student, written.promise);
  const request = { id: "a", promptIds: [1, 2], responseIds: [3] };
  expect(await service.score("student", [request], {}, IGNORED)).toHaveLength(1);
  await service.load("teacher", await sample("teacher"), OPTIONS, IGNORED);
  const { signal } = new AbortController();
  for (const asked of [
    () => service.takeStudent(),
    () => service.load("student", opened, OPTIONS, IGNORED),
    async () => service.openProbed(opened, signal),
    () => service.start("cpu"),
  ])
    await expect(asked()).rejects.toThrow("the trained student is being kept");
  const kept = { ...opened, name: "kept" };
  written.resolve(kept);
  expect(await service.keptStudent()).toBe(kept);
  expect(await service.takeStudent()).toEqual({ student, start: kept });
});

it("a student that could not be kept gives way to another, and no run takes it", async () => {
  const service = new ComputeService();
  await service.start("cpu");
  const opened = await sample("student");
  await service.load("student", opened, OPTIONS, IGNORED);
  const { student } = await service.takeStudent();
  service.keepStudent(student, Promise.reject(new Error("disk full")));
  await expect(service.keptStudent()).rejects.toThrow("disk full");
  await expect(service.takeStudent()).rejects.toThrow("disk full");
  await service.load("student", opened, OPTIONS, IGNORED);
  expect(await service.keptStudent()).toBe(opened);
});

it("a student has its moments, and a plan counts them, from its first training on", async () => {
  const service = new ComputeService();
  await service.start("cpu");
  const student = await sample("student");
  const lengths = { longestSequence: 9, longestResponse: 2 };
  const planned = async (kind: "score" | "train"): Promise<boolean> => {
    const job = { kind, teacher: null, student, weights: "f32", limit: null } as const;
    const { plan } = await service.plan(job, { teacher: lengths, student: lengths });
    return plan.items.some(({ name }) => name.endsWith("optimizer state"));
  };
  await service.load("student", student, OPTIONS, IGNORED);
  expect([await planned("score"), await planned("train")]).toEqual([false, true]);
  await service.model("student").continueOptimizer();
  expect(await planned("score")).toBe(true);
});
