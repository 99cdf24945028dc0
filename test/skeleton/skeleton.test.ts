/** The skeletons that docs/adding.md offers to copy: each is entered in its list in the place of another, and used. */
import { expect, it, vi } from "vitest";
import { environmentRules, isCustomEnvironment } from "../../src/core/environment/environment.ts";
import { liveRollout } from "../../src/core/loop/live-task.ts";
import { rollout } from "../../src/core/loop/rollout.ts";
import { thisMachine } from "../../src/worker/launch/shell.ts";
import { kindOf, targetSchema } from "../../src/worker/launch/target.ts";
import { corridor } from "../support/corridor.ts";
import { Scripted } from "../support/corridor-training.ts";
import { CONTRACT } from "../support/launch-contract.ts";
import { at, inLaunchFolders } from "../support/launch-places.ts";
import { find, source, student } from "../support/path-records.ts";
import { toyCodec } from "../support/toy-model.ts";
import { UniformScorer } from "./engine.ts";

vi.mock("../../src/core/environment/webshop/rules.ts", async () => ({
  WEBSHOP: (await import("./environment/rules.ts")).CORRIDOR,
}));
vi.mock("../../src/worker/launch/ray.ts", async () => {
  const { spool, spoolLauncher } = await import("./launcher.ts");
  return { ray: spool, rayLauncher: spoolLauncher };
});
inLaunchFolders();

it("the environment has rules of its own: captures get keys, and an unreliable one matches nothing", () => {
  const { locate, compareStates } = environmentRules("corridor");
  expect(isCustomEnvironment("corridor")).toBe(false);
  expect(locate?.({ id: "a", room: 2 })).toEqual({
    id: { key: "id", value: "a" },
    key: "room 2",
    state: { key: "room 2", mode: "normal", options: {} },
  });
  expect(locate?.({ id: "b", room: null }).state).toBeNull();
  expect(() => locate?.({ id: "c", room: "2" }, { file: "captures.jsonl", line: 3 })).toThrow(
    /captures\.jsonl.*3.*room/,
  );
  expect(compareStates?.({ room: 1 }, { room: 2 })).toMatchObject([
    { kind: "changed", left: "1", right: "2" },
  ]);
  expect(compareStates?.({ room: 1 }, {})).toBeNull();
});

it("the environment's references are found by its rules", () => {
  const { record } = find(
    [source("teacher:0", "abc")],
    student("ab", false),
    0,
    environmentRules("corridor"),
  );
  expect(record.success).toMatchObject({ source: "teacher:0", position: 0 });
});

it("the environment is played with its own prompts and parser", async () => {
  const live = { environment: "corridor", task: "c3", open: async () => corridor(3), maxDecisions: 4 };
  const says = (_: string, nth: number) => (nth === 1 ? "" : "forward");
  const settings = { temperature: 1, seed: 1, policyVersion: 0 };
  const [episode] = await rollout([liveRollout(live)], new Scripted(1, says), toyCodec, settings);
  expect(episode?.decisions.map(({ action, status }) => [action, status])).toEqual([
    ["forward", "executed"],
    [null, "malformed"],
    ["forward", "executed"],
  ]);
  expect(episode?.decisions[0]?.prompt).toContain("Commands: back, forward");
  expect(episode?.outcome).toMatchObject({ complete: true, success: true });
});

it("the engine scores response tokens alone, refuses what it cannot tell, and stops when it is asked", async () => {
  const engine = new UniformScorer(8);
  const request = { id: "a", promptIds: [1, 2], responseIds: [3, 4, 5] };
  const [result] = await engine.score([request]);
  expect(result).toEqual({ id: "a", logprobs: new Float32Array(3).fill(-Math.log(8)) });
  await expect(engine.score([request], { entropy: true })).rejects.toThrow("log-probabilities");
  await expect(engine.score([{ ...request, responseIds: [8] }])).rejects.toThrow("token 8");
  await expect(engine.score([request], { signal: AbortSignal.abort() })).rejects.toThrow("abort");
});

it.each(CONTRACT)("the launcher holds to the contract: $name", ({ check }) => {
  const target = targetSchema.parse({ scratch: "/scratch", scheduler: "ray" });
  return check({ launcher: kindOf(target).launcher(thisMachine, target), root: at() });
});
