import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { CHECKPOINT_FORMAT, type CheckpointState } from "../../../../core/loop/index.ts";
import { KeptCheckpoints } from "../../worker/kept-checkpoints.ts";
import type { KeptCheckpoint } from "./page-archive.ts";
import { newestCheckpoint, runCheckpoints } from "./run-checkpoints.ts";

const RUN = "page-000000000000";
/** All its files are in memory. */
type Kept = Omit<KeptCheckpoint, "files"> & { files: Map<string, Blob> };
/** What the browser keeps, and how many checkpoints it has room for. */
const archive = vi.hoisted(() => ({ kept: new Map<string, Kept>(), room: 9 }));

vi.mock("./page-archive.ts", () => ({
  openFiles: async (files: KeptCheckpoint["files"]) => new Map(files),
  keepCheckpoint: async (checkpoint: Kept) => {
    if (archive.kept.size >= archive.room) throw new DOMException("no room", "QuotaExceededError");
    archive.kept.set(checkpoint.id, checkpoint);
  },
  dropCheckpoint: async (id: string) => archive.kept.delete(id),
  keptCheckpointsOf: async (run: string) =>
    [...archive.kept.values()]
      .filter(({ id }) => id === run || id.startsWith(`${run}/`))
      .sort((a, b) => (a.id < b.id ? 1 : -1)),
}));

beforeEach(() => {
  archive.kept.clear();
  archive.room = 9;
  refused.length = 0;
});

function state(step: number, sr?: number): CheckpointState {
  const spread = { mean: sr ?? 0, sd: null };
  const evaluation = {
    ...{ tasks: 1, seeds: [0], sr: spread, score: null, rounds: spread, per_seed: [], per_type: {} },
    ...{ sr_interval: [0, 100] as const, pass_at_k: 0, score_at_k: null, technical: [], seconds: 1 },
  };
  const position = { stage: 0, epoch: 0, batch: step };
  const common: CheckpointState = { format: CHECKPOINT_FORMAT, step, position, fingerprint: { data: "a" } };
  return sr === undefined ? common : { ...common, evaluation };
}

const refused: string[] = [];
const store = () =>
  new KeptCheckpoints(
    RUN,
    (reason) => refused.push(reason),
    () => refused.push("the best"),
  );

async function save(into: KeptCheckpoints, ...states: CheckpointState[]): Promise<void> {
  for (const each of states)
    await into.save(each, async (writer) => {
      await writer.write("config.json", [Uint8Array.of(1, 2)]);
      await writer.write("model.safetensors", [Uint8Array.of(each.step, 7, 7, 7)]);
      await writer.commit();
    });
}

const keptSteps = () => [...archive.kept.keys()].sort().map((id) => Number(id.slice(RUN.length + 1)));
const kept = (step: number) => archive.kept.get(`${RUN}/${String(step).padStart(8, "0")}`)!;

describe("checkpoints that the browser keeps", () => {
  it("are the newest, the one before, and the best evaluated one", async () => {
    await save(store(), state(1), state(2, 20), state(3, 50), state(4), state(5, 50), state(6));
    expect(keptSteps()).toEqual([3, 5, 6]);
    const found = await newestCheckpoint(RUN);
    expect(found?.state).toEqual(state(6));
    // Only the model: it may become a student, with files of its own beside it.
    expect([...found!.folder.files.keys()]).toEqual(["config.json", "model.safetensors"]);
    expect((await runCheckpoints(RUN)).whole.map(({ state: { step } }) => step)).toEqual([6, 5, 3]);
    expect(await newestCheckpoint("page-000000000001")).toBeNull();
  });

  it.each<[string, (files: Map<string, Blob>) => void, RegExp]>([
    [
      "a flipped bit",
      (files) => files.set("model.safetensors", new Blob([Uint8Array.of(2, 7, 6, 7)])),
      /SHA-256/,
    ],
    [
      "a cut",
      (files) => files.set("model.safetensors", new Blob([Uint8Array.of(2, 7)])),
      /2 bytes, expected 4/,
    ],
    ["a file missing", (files) => files.delete("config.json"), /config\.json is missing/],
    ["a file more", (files) => files.set("more", new Blob(["x"])), /more is not in manifest\.json/],
    [
      "another state",
      (files) => files.set("checkpoint.json", new Blob(["{}"])),
      /checkpoint\.json has 2 bytes/,
    ],
    [
      "no manifest",
      (files) => files.delete("manifest.json"),
      /no manifest\.json: it is damaged, or of a version/,
    ],
    [
      "a damaged manifest",
      (files) => files.set("manifest.json", new Blob(["{}"])),
      /manifest\.json is damaged/,
    ],
    [
      "files of another step",
      (files) => files.set("model.safetensors", kept(1).files.get("model.safetensors")!),
      /model\.safetensors does not have the SHA-256/,
    ],
  ])(
    "are passed over for the one before with %s, and refused where that is damaged too",
    async (_, damage, reason) => {
      await save(store(), state(1), state(2));
      damage(kept(2).files);
      const found = await store().latest();
      expect(found).toMatchObject({ state: { step: 1 }, damaged: [{ name: "step 2" }] });
      expect(found!.damaged![0]!.reason).toMatch(reason);
      expect([...(await found!.folder.read("model.safetensors", 0, 1))]).toEqual([1]);
      kept(1).files.delete("model.safetensors");
      await expect(store().latest()).rejects.toThrow(
        /^page-000000000000: no checkpoint here can be used \(step 2: .*; step 1: model\.safetensors is missing\); remove this run and begin it again$/,
      );
    },
  );

  it("of large files are checked too, also those that earlier versions digested in one go", async () => {
    const large = new Uint8Array(2 ** 28 + 1);
    large[2 ** 27] = 5;
    const middle = large.subarray(2 ** 27, 2 ** 27 + 2 ** 26 + 1);
    await store().save(state(1), async (writer) => {
      await writer.write("middle", [middle]);
      await writer.write("model.safetensors", [large]);
      await writer.commit();
    });
    const { files } = kept(1);
    expect((await newestCheckpoint(RUN))?.state.step).toBe(1);
    // First only what is up to 256 MiB, as the version before did, then all, as the one before that.
    let manifest = await files.get("manifest.json")!.text();
    for (const [name, bytes] of Object.entries({ middle, "model.safetensors": large })) {
      const present: string = JSON.parse(manifest).files[name].sha256;
      const earlier = createHash("sha256").update(bytes).digest("hex");
      expect(present).not.toBe(earlier);
      manifest = manifest.replace(present, earlier);
      files.set("manifest.json", new Blob([manifest]));
      expect((await newestCheckpoint(RUN))?.state.step).toBe(1);
    }
    middle[0] = 6;
    files.set("middle", new Blob([middle]));
    await expect(newestCheckpoint(RUN)).rejects.toThrow("SHA-256");
  });

  it("of an earlier version, without a manifest, are taken as they are until newer ones follow", async () => {
    const files = new Map([["model.safetensors", new Blob([Uint8Array.of(1, 7)])]]);
    archive.kept.set(RUN, { id: RUN, state: state(1), files });
    const found = await newestCheckpoint(RUN);
    expect(found).toMatchObject({ state: state(1), damaged: [] });
    expect(found!.folder).toEqual({ name: "step 1", files });
    expect((await runCheckpoints(RUN)).whole).toHaveLength(1);
    const resumed = store();
    expect((await resumed.latest())?.state).toEqual(state(1));
    await save(resumed, state(2));
    expect((await runCheckpoints(RUN)).whole.map(({ state: { step } }) => step)).toEqual([2, 1]);
    await save(resumed, state(3));
    expect(keptSteps()).toEqual([2, 3]);
    archive.kept.clear();
    archive.kept.set(RUN, { id: RUN, state: { step: 1 }, files });
    await expect(newestCheckpoint(RUN)).rejects.toThrow(
      /no checkpoint here can be used \(a checkpoint of an earlier version: .*remove this run and begin it again/,
    );
  });

  it("give way to the newest where there is no room, and to nothing before it is kept", async () => {
    archive.room = 2;
    const into = store();
    await save(into, state(1, 50), state(2, 20), state(3, 20));
    // Nothing goes without a word.
    expect(refused.splice(0)).toEqual(["the best"]);
    archive.kept.clear();
    await save(into, state(1), state(2), state(3));
    expect(keptSteps()).toEqual([2, 3]);
    archive.room = 1;
    await save(into, state(4));
    // The last one that was kept stays.
    expect(keptSteps()).toEqual([3]);
    expect(refused).toEqual(["no room"]);
    expect((await into.latest())?.state.step).toBe(4);
  });
});
