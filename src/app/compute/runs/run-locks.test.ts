import { beforeEach, expect, it } from "vitest";
import { until } from "../../../../test/support/fake.ts";
import { FakeLocks } from "../../../../test/support/fake-locks.ts";
import { RunLocks } from "./run-locks.ts";

const ID = "page-1";
let locks: FakeLocks;
let here: RunLocks;
let there: RunLocks;

beforeEach(() => {
  locks = new FakeLocks();
  [here, there] = [new RunLocks(locks.manager), new RunLocks(locks.manager)];
});

it("a run has one tab; another may have it once it was given up", async () => {
  expect(await here.ownRun(ID)).toBe(true);
  expect(await there.ownRun(ID)).toBe(false);
  expect([here.ownHere(), there.ownHere()]).toEqual([[ID], []]);
  expect(await there.ownedRuns()).toEqual(new Set([ID]));
  here.leaveRun(ID);
  await until(() => expect(here.ownHere()).toEqual([]));
  expect(await there.ownRun(ID)).toBe(true);
  expect(await here.ownRun(ID)).toBe(false);
});

it("a tab takes a run again that it is just giving up", async () => {
  await here.ownRun(ID);
  here.leaveRun(ID);
  expect(await here.ownRun(ID)).toBe(true);
  await until(() => expect(locks.held).toHaveLength(1));
  expect([here.ownHere(), await there.ownRun(ID)]).toEqual([[ID], false]);
});

it("who waits for the end of a run does not keep others from it, and waits again while they have it", async () => {
  await here.ownRun(ID);
  let ends = 0;
  const end = there.whenFree(ID).then(() => {
    ends += 1;
  });
  await Promise.resolve();
  expect(ends).toBe(0);
  here.leaveRun(ID);
  // The one that waited has it for a moment.
  expect(await here.ownRun(ID)).toBe(true);
  await end;
  expect(ends).toBe(1);
});

it("waiting is given up when it is asked to, and what a run of another kind holds is no run", async () => {
  await here.ownRun(ID);
  const left = new AbortController();
  const waiting = there.whenFree(ID, left.signal);
  left.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  void locks.manager.request("of something else", {}, () => new Promise(() => undefined));
  await until(() => expect(locks.held).toHaveLength(2));
  expect(await here.ownedRuns()).toEqual(new Set([ID]));
});

it("where a browser has no locks each tab stands alone", async () => {
  const alone = new RunLocks(undefined);
  expect(await alone.ownRun(ID)).toBe(true);
  expect([alone.ownHere(), await alone.ownedRuns()]).toEqual([[], new Set()]);
  await alone.whenFree(ID);
  alone.leaveRun(ID);
});
