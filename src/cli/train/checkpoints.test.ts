import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ratedEvaluation } from "../../../test/support/rated-evaluation.ts";
import { InputError } from "../../core/errors.ts";
import { CHECKPOINT_FORMAT, type CheckpointState } from "../../core/loop/checkpoint.ts";
import { seedOf, uniforms } from "../../core/seeded.ts";
import { fileError } from "../../node/file-error.ts";
import { checkpointState, DiskCheckpoints } from "./checkpoints.ts";

/** Files on a part of the disk that cannot be read. */
const unreadable = vi.hoisted(() => new Set<string>());
vi.mock("../io.ts", async (original) => {
  const io = await original<typeof import("../io.ts")>();
  const readText: typeof io.readText = async (path) => {
    if (!unreadable.has(path)) return io.readText(path);
    throw fileError(Object.assign(new Error(), { code: "EIO", syscall: "read" }), path, "read");
  };
  return { ...io, readText };
});

/** What the disk does not let go of, by a part of its path, and how it says so. */
const stuck = vi.hoisted(() => new Map<string, { rename?: string; rm?: string }>());
vi.mock("node:fs/promises", async (original) => {
  const promises = await original<typeof import("node:fs/promises")>();
  const refused = (what: "rename" | "rm", path: string) => {
    for (const [part, { [what]: code }] of stuck)
      if (code !== undefined && path.includes(part))
        throw Object.assign(new Error(), { code, syscall: what });
  };
  return {
    ...promises,
    async rename(from: string, to: string) {
      refused("rename", from);
      await promises.rename(from, to);
    },
    async rm(path: string, options: object) {
      refused("rm", path);
      await promises.rm(path, options);
    },
  };
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-checkpoints-"));
});
afterEach(() => {
  unreadable.clear();
  stuck.clear();
  rmSync(folder, { recursive: true });
});

const FILES = ["config.json", "model.safetensors", "optimizer.safetensors"];
const state = (step: number): CheckpointState => ({
  format: CHECKPOINT_FORMAT,
  step,
  position: { stage: 0, epoch: 0, batch: step },
  fingerprint: { data: "d" },
});
const contentOf = (step: number, file: string): string => `${file} of step ${step} `.repeat(3);
const stepFolder = (step: number): string => join(folder, `step-0000000${step}`);

async function save(checkpoints: DiskCheckpoints, step: number): Promise<void> {
  await checkpoints.save(state(step), async (writer) => {
    for (const file of FILES) await writer.write(file, [new TextEncoder().encode(contentOf(step, file))]);
    await writer.commit();
  });
}

/** Changes one thing in a checkpoint's folder, and says what. `other`: that of another step. */
type Damage = (path: string, other: string, random: (below: number) => number) => string;

const anyFile = (path: string, random: (below: number) => number): string => {
  const files = readdirSync(path);
  return files[random(files.length)]!;
};

const DAMAGES: readonly [string, Damage][] = [
  [
    "a bit",
    (path, _, random) => {
      const name = anyFile(path, random);
      const bytes = readFileSync(join(path, name));
      const at = random(bytes.length);
      const bit = random(8);
      bytes[at]! ^= 1 << bit;
      writeFileSync(join(path, name), bytes);
      return `bit ${bit} of byte ${at} of ${name}`;
    },
  ],
  [
    "a cut",
    (path, _, random) => {
      const name = anyFile(path, random);
      const length = random(readFileSync(join(path, name)).length);
      truncateSync(join(path, name), length);
      return `${name} cut to ${length} bytes`;
    },
  ],
  [
    "an addition",
    (path, _, random) => {
      const name = anyFile(path, random);
      appendFileSync(join(path, name), ["\n", " ", "\0", "{}"][random(4)]!);
      return `${name} longer`;
    },
  ],
  [
    "a file missing",
    (path, _, random) => {
      const name = anyFile(path, random);
      rmSync(join(path, name));
      return `${name} missing`;
    },
  ],
  [
    "a file of another step",
    (path, other, random) => {
      const name = anyFile(path, random);
      cpSync(join(other, name), join(path, name));
      return `${name} of another step`;
    },
  ],
  [
    "zeros",
    (path, _, random) => {
      const name = anyFile(path, random);
      const bytes = readFileSync(join(path, name));
      const from = random(bytes.length);
      bytes.fill(0, from, Math.min(bytes.length, from + 1 + random(16)));
      writeFileSync(join(path, name), bytes);
      return `zeros at ${from} of ${name}`;
    },
  ],
  [
    "the folder of another step",
    (path, other) => {
      rmSync(path, { recursive: true });
      cpSync(other, path, { recursive: true });
      return "the whole folder of another step";
    },
  ],
  [
    "a file renamed",
    (path, _, random) => {
      const name = anyFile(path, random);
      renameSync(join(path, name), join(path, `${name}.bak`));
      return `${name} renamed`;
    },
  ],
  [
    "a file more",
    (path) => {
      writeFileSync(join(path, "model.safetensors.index.json"), "{}");
      return "a file more";
    },
  ],
  [
    "nothing left",
    (path) => {
      for (const name of readdirSync(path)) rmSync(join(path, name));
      return "empty";
    },
  ],
];

describe("damaged checkpoints", () => {
  it.each(DAMAGES)(
    "100 of 1,000, each passed over for the one before or refused: %s",
    async (kind, damage) => {
      const next = uniforms(seedOf(kind));
      const random = (below: number) => Math.floor(next() * below);
      await save(new DiskCheckpoints(folder, 2), 1);
      await save(new DiskCheckpoints(folder, 2), 2);
      const kept = join(folder, "kept");
      cpSync(stepFolder(1), join(kept, "1"), { recursive: true });
      cpSync(stepFolder(2), join(kept, "2"), { recursive: true });
      for (let n = 0; n < 100; n += 1) {
        rmSync(stepFolder(2), { recursive: true });
        cpSync(join(kept, "2"), stepFolder(2), { recursive: true });
        if (n === 50) rmSync(stepFolder(1), { recursive: true });
        const what = damage(stepFolder(2), join(kept, "1"), random);
        const found = await new DiskCheckpoints(folder, 2).latest().catch((error: unknown) => error);
        if (n < 50)
          expect(found, what).toMatchObject({
            state: state(1),
            damaged: [{ name: "step-00000002", reason: expect.stringMatching(/^[^\n]+$/) }],
          });
        else {
          expect(found, what).toBeInstanceOf(InputError);
          expect((found as Error).message, what).toMatch(
            /: no checkpoint here can be used \(step-00000002: [^\n]+\); /,
          );
        }
      }
    },
  );

  it("names the file and what is wrong with it", async () => {
    for (const step of [1, 2]) await save(new DiskCheckpoints(folder, 2), step);
    const reason = async () => (await new DiskCheckpoints(folder, 2).latest())?.damaged?.[0]?.reason;
    const model = join(stepFolder(2), "model.safetensors");
    const bytes = readFileSync(model);
    writeFileSync(
      model,
      bytes.map((byte, at) => (at === 7 ? byte ^ 4 : byte)),
    );
    expect(await reason()).toBe("model.safetensors does not have the SHA-256 that it was written with");
    writeFileSync(model, bytes.subarray(1));
    expect(await reason()).toBe(`model.safetensors has ${bytes.length - 1} bytes, expected ${bytes.length}`);
    rmSync(join(stepFolder(2), "manifest.json"));
    await expect(checkpointState(stepFolder(2))).rejects.toThrow(
      "step-00000002: this checkpoint cannot be used: no manifest.json",
    );
    expect(await reason()).toBe("no manifest.json: it is damaged, or of a version that wrote no checksums");
  });

  it("does not count hidden files, which file managers leave", async () => {
    await save(new DiskCheckpoints(folder, 2), 1);
    writeFileSync(join(stepFolder(1), ".DS_Store"), "x");
    expect(await new DiskCheckpoints(folder, 2).latest()).toMatchObject({ state: state(1), damaged: [] });
  });

  it("goes, once there is a new one, and never in place of a whole one", async () => {
    for (const step of [1, 2, 3, 4]) await save(new DiskCheckpoints(folder, 9), step);
    for (const step of [3, 4]) rmSync(join(stepFolder(step), "model.safetensors"));
    const checkpoints = new DiskCheckpoints(folder, 1);
    expect(await checkpoints.latest()).toMatchObject({
      state: state(2),
      damaged: [{ name: "step-00000004" }, { name: "step-00000003" }],
    });
    expect(readdirSync(folder)).toHaveLength(4);
    await save(checkpoints, 3);
    expect(readdirSync(folder)).toEqual(["step-00000003"]);
    expect(await checkpoints.latest()).toMatchObject({ state: state(3), damaged: [] });
  });

  it("what a kill left half-made or half-removed is not a checkpoint", async () => {
    await save(new DiskCheckpoints(folder, 2), 1);
    mkdirSync(join(folder, ".step-00000002.abc.part"));
    expect(await new DiskCheckpoints(folder, 2).latest()).toMatchObject({ state: state(1), damaged: [] });
    expect(readdirSync(folder)).toEqual(["step-00000001"]);
  });
});

describe("an old checkpoint that cannot be read", () => {
  const notes: string[] = [];
  const store = () =>
    new DiskCheckpoints(folder, 1, undefined, undefined, (note) => {
      notes.push(note);
    });
  const rated = (step: number, rate: number) => ({ ...state(step), evaluation: ratedEvaluation(rate) });
  const kept = () => readdirSync(folder).map((name) => Number(name.slice(-1)));

  it("stays, since it may be the best, is told of once, and ends no save", async () => {
    notes.length = 0;
    for (const [step, rate] of [
      [1, 50],
      [2, 90],
    ] as const)
      await new DiskCheckpoints(folder, 9).save(rated(step, rate), (writer) => writer.commit());
    const file = join(stepFolder(2), "checkpoint.json");
    unreadable.add(file);
    const checkpoints = store();
    for (const [step, rate] of [
      [3, 60],
      [4, 10],
      [5, 20],
    ] as const) {
      await checkpoints.save(rated(step, rate), (writer) => writer.commit());
      // The best of those that can be read, too.
      expect(kept()).toEqual(step === 3 ? [2, 3] : [2, 3, step]);
    }
    expect(notes).toEqual([
      `${file}: the device reports an error: this checkpoint stays until it can be read`,
    ]);
    unreadable.clear();
    await checkpoints.save(rated(6, 30), (writer) => writer.commit());
    expect(kept()).toEqual([2, 6]);
  });
});

describe("what cannot be removed", () => {
  const names = () => readdirSync(folder).map((name) => name.replace(/[0-9a-f]{12}/, "ID"));
  let notes: string[];
  const store = () => {
    notes = [];
    return new DiskCheckpoints(folder, 1, undefined, undefined, (note) => notes.push(note));
  };
  const STAYS = "what is old stays; each new checkpoint tries again to remove it";

  it("an old checkpoint ends no save, is told of once with its path, and goes when it can", async () => {
    const checkpoints = store();
    await save(checkpoints, 1);
    stuck.set("step-00000001", { rename: "EBUSY" });
    for (const step of [2, 3]) await save(checkpoints, step);
    expect(names()).toEqual(["step-00000001", "step-00000003"]);
    expect(notes).toEqual([`${stepFolder(1)}: in use by another program: ${STAYS}`]);
    expect(await checkpoints.latest()).toMatchObject({ state: state(3), damaged: [] });
    stuck.clear();
    await save(checkpoints, 4);
    expect(names()).toEqual(["step-00000004"]);
  });

  it("its files neither, in this run and in one that goes on", async () => {
    const checkpoints = store();
    await save(checkpoints, 1);
    stuck.set("step-00000001", { rm: "EACCES" });
    for (const step of [2, 3]) await save(checkpoints, step);
    expect(names()).toEqual([".step-00000001.ID.part", "step-00000003"]);
    expect(notes).toEqual([
      expect.stringMatching(
        /\/\.step-00000001\.\w+\.part: may not be written \(permission denied\): what is old/,
      ),
    ]);
    const next = store();
    expect(await next.latest()).toMatchObject({ state: state(3) });
    expect(notes).toHaveLength(1);
    stuck.clear();
    await save(next, 4);
    expect(names()).toEqual(["step-00000004"]);
  });

  it("a damaged one counts for none that is kept", async () => {
    for (const step of [1, 4]) await save(new DiskCheckpoints(folder, 9), step);
    rmSync(join(stepFolder(4), "model.safetensors"));
    const checkpoints = store();
    await checkpoints.latest();
    stuck.set("step-00000004", { rename: "EBUSY" });
    await save(checkpoints, 2);
    expect(names()).toEqual(["step-00000002", "step-00000004"]);
    stuck.clear();
    await save(checkpoints, 3);
    expect(names()).toEqual(["step-00000003"]);
  });

  it("one of the same step ends no save that takes its place", async () => {
    const checkpoints = store();
    await save(checkpoints, 1);
    stuck.set(".old", { rm: "EIO" });
    await save(checkpoints, 1);
    expect(names()).toEqual([".step-00000001.ID.part.old", "step-00000001"]);
    expect(notes[0]).toMatch(/\.old: the device reports an error: what is old stays/);
    stuck.clear();
    await save(checkpoints, 2);
    expect(names()).toEqual(["step-00000002"]);
  });
});
