import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeLocks } from "../../../../test/support/fake-locks.ts";
import { FakeDisk } from "../../../../test/support/fake-origin.ts";
import { CHECKPOINT_FORMAT } from "../../../core/loop/index.ts";
import { isOriginFile, OriginFiles } from "../../data/files/origin-files.ts";
import type { KeptCheckpoint } from "../runs/internal/page-archive.ts";
import { KeptCheckpoints } from "./kept-checkpoints.ts";

/** What the browser keeps; null where it keeps nothing. */
const browser = vi.hoisted(() => ({
  files: null as unknown as OriginFiles,
  records: null as Map<string, KeptCheckpoint> | null,
}));
vi.mock("../../data/files/origin-files.ts", async (original) => ({
  ...(await original<object>()),
  get originFiles() {
    return browser.files;
  },
}));
vi.mock("../runs/internal/page-archive.ts", () => {
  const records = () => {
    if (browser.records === null) throw new Error("nothing is kept here");
    return browser.records;
  };
  return {
    openFiles: async (files: KeptCheckpoint["files"]) => {
      const found = [...files].map(async ([path, file]) =>
        isOriginFile(file)
          ? ([path, (await browser.files.open(file.name))!] as const)
          : ([path, file] as const),
      );
      return new Map(await Promise.all(found));
    },
    keepCheckpoint: async (checkpoint: KeptCheckpoint) => void records().set(checkpoint.id, checkpoint),
    keptCheckpointsOf: async () => [...records().values()].reverse(),
    dropCheckpoint: async (id: string) => {
      const names = [...records().get(id)!.files.values()].filter(isOriginFile).map(({ name }) => name);
      records().delete(id);
      const named = [...records().values()].flatMap(({ files }) => [...files.values()].filter(isOriginFile));
      await browser.files.sweep(async () => new Set(named.map(({ name }) => name)), names);
    },
  };
});

const MIB = 2 ** 20;
const refusals: string[] = [];
const store = () =>
  new KeptCheckpoints(
    "page-000000000000",
    (reason) => refusals.push(reason),
    () => refusals.push("the best"),
  );

/** Writes a checkpoint of so many bytes. */
const write = (into: KeptCheckpoints, step: number, bytes: number, fails = false): Promise<void> =>
  into.save(
    { format: CHECKPOINT_FORMAT, step, position: { stage: 0, epoch: 0, batch: step }, fingerprint: {} },
    async (writer) => {
      await writer.write("model", [new Uint8Array(bytes).fill(step)]);
      if (fails) throw new Error("the device was lost");
      await writer.commit();
    },
  );

const stepOf = async (kept: KeptCheckpoints): Promise<number | null> => {
  const found = await kept.latest();
  if (found === null) return null;
  expect([...(await found.folder.read("model", 0, 1))]).toEqual([found.state.step]);
  return found.state.step;
};

let disk: FakeDisk;
/** A worker starts. */
function open(): void {
  const locks = new FakeLocks().manager as LockManager;
  browser.files = new OriginFiles({ getDirectory: async () => disk.handle }, locks);
}
beforeEach(() => {
  refusals.length = 0;
  disk = new FakeDisk();
  browser.records = new Map();
  open();
});

describe("checkpoints of a run in the page", () => {
  it("stay in memory where nothing else keeps them, which is said once", async () => {
    browser.records = null;
    browser.files = new OriginFiles(undefined, undefined);
    const kept = store();
    expect(await stepOf(kept)).toBeNull();
    await write(kept, 1, 1);
    await write(kept, 2, 1);
    await expect(write(kept, 3, 1, true)).rejects.toThrow("the device was lost");
    expect(await stepOf(kept)).toBe(2);
    expect(refusals).toHaveLength(1);
  });

  it("lie in the origin's file system, the newest and the one before", async () => {
    const kept = store();
    for (const step of [1, 2, 3, 4]) {
      await write(kept, step, MIB);
      expect(disk.used).toBe(Math.min(2, step) * MIB);
    }
    await expect(write(kept, 5, MIB, true)).rejects.toThrow("the device was lost");
    expect(disk.used, "a half-written one leaves nothing").toBe(2 * MIB);
    expect(await stepOf(store())).toBe(4);
    expect(refusals).toEqual([]);
  });

  it("that are damaged go once the run has come further", async () => {
    const kept = store();
    for (const step of [1, 2]) await write(kept, step, MIB);
    const [newest] = [...browser.records!.values()].reverse();
    const file = newest!.files.get("model") as File;
    (await disk.read(`kept-files/${file.name}`))!.fill(9);
    // The worker that wrote them has ended, and its locks with it.
    open();
    const resumed = store();
    expect(await stepOf(resumed)).toBe(1);
    for (const step of [2, 3]) await write(resumed, step, MIB);
    expect(disk.used).toBe(2 * MIB);
  });

  it("make room for the newest, and go on in memory where that is not enough", async () => {
    disk.quota = 2.5 * MIB;
    const kept = store();
    for (const step of [1, 2, 3]) await write(kept, step, MIB);
    expect(refusals, "the one before the last gave way").toEqual([]);
    expect(await stepOf(store())).toBe(3);
    disk.quota = 1.5 * MIB;
    await write(kept, 4, MIB);
    await write(kept, 5, MIB);
    expect(refusals).toEqual(["full"]);
    expect(await stepOf(kept)).toBe(5);
    expect(await stepOf(store()), "the last one that was kept stays").toBe(3);
  });
});
