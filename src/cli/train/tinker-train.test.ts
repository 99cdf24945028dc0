/** gcopd train with a student that a server trains: the same figures as with our own engine, over faults of the server. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildCli, startCli } from "../../../test/support/cli.ts";
import { FakeTinker, type FakeTinkerOptions } from "../../../test/support/fake-tinker.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { relativeError } from "../../../test/support/relative-error.ts";
import {
  eachInItsFolder,
  events,
  figures,
  inFolder,
  lines,
  train,
  writeConfig,
} from "../../../test/support/train-runs.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { Checkpoint } from "../../tensor/index.ts";

const BASE = modelFixture("tiny-a");
let script: string;

beforeAll(async () => {
  script = await buildCli("tinker");
});
afterAll(() => rmSync(join(script, ".."), { recursive: true, force: true }));
eachInItsFolder();

const fakes: FakeTinker[] = [];
afterEach(() => Promise.all(fakes.splice(0).map((fake) => fake.close())));

async function fakeOf(options: Partial<FakeTinkerOptions> = {}): Promise<FakeTinker> {
  const fake = await FakeTinker.start({ base: BASE, ...options });
  fakes.push(fake);
  return fake;
}

const configOf = ({ url }: FakeTinker, tinker: object = {}, more: object = {}) =>
  writeConfig({ tinker: { url, lora_rank: 0, ...tinker }, ...more }, "tinker.json");

async function weightsOf(folder: string): Promise<Map<string, Float32Array>> {
  const stored = await Checkpoint.openFile(openFolder(folder), "model.safetensors");
  const weights = new Map<string, Float32Array>();
  for (const [name, { shape }] of stored.tensors) weights.set(name, await stored.read(name, shape));
  return weights;
}

/** Each figure of each step, within a thousandth of what it should be. */
function expectFigures(found: object[], expected: object[]): void {
  expect(found).toHaveLength(expected.length);
  for (const [n, step] of expected.entries())
    for (const [key, value] of Object.entries(step)) {
      const got: unknown = Object.entries(found[n]!).find(([name]) => name === key)?.[1];
      if (typeof value !== "number") expect(got, key).toEqual(value);
      else
        expect(Math.abs(Number(got) - value), key).toBeLessThanOrEqual(1e-3 * Math.max(0.1, Math.abs(value)));
    }
}

describe("two epochs", () => {
  it("of all weights on a server are those of our own engine", async () => {
    const fake = await fakeOf({ gradient: "sum" });
    const served = await train(configOf(fake), "served", "--progress", "json");
    expect(served).toMatchObject({ code: 0 });
    expect(await train(writeConfig(), "own")).toMatchObject({ code: 0 });
    expectFigures(figures("served"), figures("own"));
    const [found, expected] = [
      await weightsOf(inFolder("served", "student")),
      await weightsOf(inFolder("own", "student")),
    ];
    for (const [name, start] of await weightsOf(BASE)) {
      const moved = (values: Float32Array) => values.map((value, n) => value - start[n]!);
      expect(relativeError(moved(found.get(name)!), moved(expected.get(name)!)), name).toBeLessThan(1e-3);
    }
    const [start] = events(served.out);
    expect(start).toMatchObject({
      type: "start",
      student: {
        ...{ model: BASE, device: "server", adapter: fake.url, parameters: null, vocabulary: 1880 },
        served: { calibration: { decisions: 3 } },
      },
    });
    expect(lines("served", "events.jsonl").map(({ type }) => type)).toEqual(
      lines("own", "events.jsonl").map(({ type }) => type),
    );
    // Nothing is left on the server but its checkpoints.
    expect(fake.loaded).toBe(0);
  });

  it("of an adapter end in the same adapter, whatever was lost on the way", async () => {
    const whole = await fakeOf();
    expect(await train(configOf(whole, { lora_rank: 4 }), "whole")).toMatchObject({ code: 0 });
    let updates = 0;
    const fake = await fakeOf({
      fault: (route) => {
        if (route === "/optim_step") updates += 1;
        // Those of the probe and of the steps at 0 come first. Then an update is lost, and later the whole server.
        if (route === "/optim_step" && updates === 15) return "lost";
        return route === "/forward_backward" && updates === 32 ? "restart" : null;
      },
    });
    const run = await train(configOf(fake, { lora_rank: 4 }), "faults");
    expect(run).toMatchObject({ code: 0 });
    expect(lines("faults", "events.jsonl").filter(({ type }) => type === "fault")).toMatchObject([
      { fault: "server", message: expect.stringContaining("/optim_step: no answer") },
      { fault: "server", message: expect.stringContaining("not loaded") },
    ]);
    expect(run.err).toContain("with a new model of the server (1 of 3)");
    const last = (out: string) =>
      new Map(lines(out, "metrics.jsonl").map(({ step, ...rest }) => [step, rest]));
    for (const [step, { gradNorm, loss }] of last("whole"))
      expect(last("faults").get(step)).toMatchObject({ gradNorm, loss });
    const adapter = async (out: string) => {
      const stored = await Checkpoint.openFile(
        openFolder(inFolder(out, "student")),
        "adapter_model.safetensors",
      );
      const read = [...stored.tensors].map(([name, { shape }]) => stored.read(name, shape));
      return Promise.all(read);
    };
    expect(await adapter("faults")).toEqual(await adapter("whole"));
  });
});

describe("after a kill", () => {
  it("the same command goes on from the server's last checkpoint, to the same figures", async () => {
    const fake = await fakeOf();
    const config = configOf(fake, { lora_rank: 4 });
    expect(await train(config, "whole")).toMatchObject({ code: 0 });
    const run = startCli(
      script,
      ["train", "--config", config, "--out", inFolder("killed"), "--progress", "json"],
      { at: { type: "updated", step: 2, signal: "SIGKILL" } },
    );
    expect(await run.ended).toMatchObject({ signal: "SIGKILL" });
    const again = await train(config, "killed", "--progress", "json");
    expect(again).toMatchObject({ code: 0 });
    expect(events(again.out)[0]).toMatchObject({ type: "start", resumedFrom: expect.any(Number) });
    const last = (out: string) => new Map(lines(out, "metrics.jsonl").map(({ step, loss }) => [step, loss]));
    expect(last("killed")).toEqual(last("whole"));

    const other = await fakeOf();
    rmSync(inFolder("killed", "student"), { recursive: true });
    const elsewhere = await train(configOf(other, { lora_rank: 4 }), "killed");
    expect(elsewhere.code).toBe(1);
    expect(elsewhere.err).toMatch(
      /cannot go on: http:\S+ does not have tinker:\/\/\S+step-4, which http:\S+ saved/,
    );
  });
});

/** The server's checkpoints that those of a run name. */
const named = (out: string) =>
  readdirSync(inFolder(out, "checkpoints"))
    .map((name) => JSON.parse(readFileSync(inFolder(out, "checkpoints", name, "tinker.json"), "utf8")).path)
    .sort();

describe("checkpoints that are not kept", () => {
  it("go from the server, too", async () => {
    const fake = await fakeOf({ deletes: true });
    expect(await train(configOf(fake, { lora_rank: 4 }), "run")).toMatchObject({ code: 0 });
    expect(named("run")).toHaveLength(2);
    expect(fake.kept.sort()).toEqual(named("run"));
  });

  it.each<[string, Partial<FakeTinkerOptions>, RegExp, number]>([
    ["has no call to delete them", {}, /keeps the checkpoints .*: it has no call to delete them/g, 1],
    [
      "refuses",
      {
        fault: (route) =>
          route.startsWith("DELETE") ? { status: 400, detail: "Checkpoint is in use" } : null,
      },
      /keeps the checkpoints .*: http:\S+\/checkpoints\/weights\/step-1: status 400: Checkpoint is in use/g,
      2,
    ],
    [
      "has lost them",
      {
        fault: (route) =>
          route.startsWith("DELETE") ? { status: 404, detail: "Checkpoint not found" } : null,
      },
      /keeps the checkpoints/g,
      2,
    ],
  ])("stay where the server %s, which ends no run", async (what, options, said, asked) => {
    const fake = await fakeOf(options);
    const { code, err } = await train(configOf(fake, { lora_rank: 4 }), "run");
    expect(code).toBe(0);
    expect(err.match(said) ?? []).toHaveLength(what === "has lost them" ? 0 : 1);
    expect(fake.asked.filter((route) => route.startsWith("DELETE"))).toHaveLength(asked);
    expect(fake.kept).toHaveLength(4);
  });
});

describe("a parent", () => {
  it("on the same server gives the figures of one run of both stages", async () => {
    const fake = await fakeOf();
    const config = (more: object) => configOf(fake, { lora_rank: 4 }, more);
    expect(await train(config({}), "whole")).toMatchObject({ code: 0 });
    expect(await train(config({ epochs: [1, 0] }), "vanilla")).toMatchObject({ code: 0 });
    const child = { epochs: [0, 1], parent: "vanilla" };
    expect(await train(config(child), "child")).toMatchObject({ code: 0 });
    expect([...figures("vanilla"), ...figures("child")]).toEqual(figures("whole"));
    const adapter = (out: string) => readFileSync(inFolder(out, "student", "adapter_model.safetensors"));
    expect(adapter("child").equals(adapter("whole"))).toBe(true);

    const other = configOf(fake, { lora_rank: 8 }, child);
    expect((await train(other, "refused")).err).toContain(
      "parent: its run had another lora_rank or optimizer",
    );
    const elsewhere = configOf(await fakeOf(), { lora_rank: 4 }, child);
    expect((await train(elsewhere, "refused")).err).toMatch(
      /cannot go on: http:\S+ does not have tinker:\/\/\S+step-2, which http:\S+ saved/,
    );
    expect((await train(writeConfig(child), "refused")).err).toMatch(
      /parent: its student is on http:\S+: it goes on with `tinker` alone/,
    );
  });

  it("that was trained here is refused", async () => {
    expect(await train(writeConfig({ epochs: [1, 0] }), "own")).toMatchObject({ code: 0 });
    const child = configOf(await fakeOf(), {}, { epochs: [0, 1], parent: "own" });
    expect((await train(child, "refused")).err).toContain(
      "parent: its student was trained here: a server cannot take over its optimizer",
    );
  });
});

describe("before the first step", () => {
  it("a server that computes another model is refused, with the figure", async () => {
    const { code, err } = await train(configOf(await fakeOf({ error: 0.6 })), "refused");
    expect(code).toBe(1);
    expect(err).toMatch(/does not compute this model as it should: largest difference to .* 0\.60 nats/);
  });

  it("a server that updates at a learning rate of 0 is refused", async () => {
    const { code, err } = await train(configOf(await fakeOf({ atRateZero: 1e-5 })), "refused");
    expect(code).toBe(1);
    expect(err).toMatch(/three steps at a learning rate of 0 move .*: it changes the weights\n$/);
  });

  it.each([
    [{ base_model: "other" }, /tinker\.json, tinker\.base_model: http:\S+ does not serve "other", but "/],
    [{ lora_rank: -1 }, /tinker\.json, tinker\.lora_rank: /],
    [{ url: "127.0.0.1:8000" }, /expected http:\/\/HOST:PORT of an inference server/],
  ])("%j is refused with one line", async (tinker, message) => {
    const { code, err } = await train(configOf(await fakeOf(), tinker), "refused");
    expect(code).toBe(1);
    expect(err).toMatch(message);
  });

  it("merging needs weights", async () => {
    mkdirSync(inFolder("bare"));
    copyFileSync(join(BASE, "config.json"), inFolder("bare", "config.json"));
    const bare = configOf(await fakeOf(), { merge: true }, { student: "bare" });
    expect((await train(bare, "refused")).err).toContain(
      "tinker.merge: needs the weights in the student's folder",
    );
  });
});
