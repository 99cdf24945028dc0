import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { fileTuningStore, nodeTuningStore, tuningFile } from "./node-tuning-store.ts";
import { originTuningStore } from "./origin-tuning-store.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tuning-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("the file lies in the user's cache folder", () => {
  expect(tuningFile({ XDG_CACHE_HOME: "/var/cache/me" })).toBe("/var/cache/me/gcopd/tuning.json");
  const usual = join(homedir(), ".cache", "gcopd", "tuning.json");
  expect(tuningFile({})).toBe(usual);
  expect(tuningFile({ XDG_CACHE_HOME: "relative" })).toBe(usual);
});

test("GCOPD_TUNING turns measuring on", () => {
  expect(nodeTuningStore({})).toBe(false);
  expect(nodeTuningStore({ GCOPD_TUNING: "off" })).toBe(false);
  expect(nodeTuningStore({ GCOPD_TUNING: "on" })).toHaveProperty("read");
  expect(() => nodeTuningStore({ GCOPD_TUNING: "no" })).toThrow(
    'GCOPD_TUNING is "no"; expected "on" or "off"',
  );
});

test("a file is written whole, in folders that need not be there, and leaves nothing beside it", async () => {
  const path = join(folder, "a", "b", "tuning.json");
  const store = fileTuningStore(path);
  expect(await store.read()).toBeNull();
  await store.write("first");
  await store.write("second");
  expect(await store.read()).toBe("second");
  expect(readdirSync(join(folder, "a", "b"))).toEqual(["tuning.json"]);
});

test("what cannot be written or read is an error, which the tuner tells", async () => {
  writeFileSync(join(folder, "file"), "");
  const below = fileTuningStore(join(folder, "file", "tuning.json"));
  await expect(below.write("x")).rejects.toThrow();
  await expect(fileTuningStore(folder).read()).rejects.toThrow();
  await expect(fileTuningStore(folder).write("x")).rejects.toThrow();
  expect(existsSync(`${folder}.${process.pid}`)).toBe(false);
});

test("a page keeps it in the origin-private file system, where there is one", async () => {
  vi.stubGlobal("navigator", {});
  expect(originTuningStore()).toBeUndefined();
  const files = new Map<string, string>();
  vi.stubGlobal("navigator", {
    storage: {
      getDirectory: async () => ({
        async getFileHandle(name: string, options?: { create: boolean }) {
          if (!files.has(name) && !options?.create) throw new DOMException("none", "NotFoundError");
          return {
            getFile: async () => new Blob([files.get(name)!]),
            async createWritable() {
              let written = "";
              return {
                write: async (text: string) => {
                  written += text;
                },
                close: async () => void files.set(name, written),
              };
            },
          };
        },
      }),
    },
  });
  const store = originTuningStore()!;
  expect(await store.read()).toBeNull();
  await store.write("kept");
  expect(await store.read()).toBe("kept");
  vi.unstubAllGlobals();
});
