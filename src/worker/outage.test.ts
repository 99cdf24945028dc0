/** A list of jobs that cannot be used for a while: the worker says so, waits, and loses nothing. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "libsql";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { Harness, states } from "./testing/harness.ts";
import { StoreFaults } from "./testing/store-faults.ts";

let harness: Harness;
let statements: StoreFaults;
let log: string[];
beforeAll(() => {
  statements = StoreFaults.install();
});
afterAll(() => statements.restore());
beforeEach(async () => {
  harness = new Harness();
  log = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    log.push(String(text));
    return true;
  });
  await harness.start();
});
afterEach(async () => {
  await harness.remove();
  vi.restoreAllMocks();
});

/** Another program with a lock on the list; and a disk with no room for a page more. Each returns the way to end it. */
const OUTAGES: [string, RegExp, () => () => void][] = [
  [
    "locked",
    /another program holds its lock \(SQLITE_BUSY\)/,
    () => {
      const other = new Database(join(harness.dataDir, "jobs.sqlite"));
      other.exec("BEGIN IMMEDIATE");
      return () => {
        other.exec("ROLLBACK");
        other.close();
      };
    },
  ],
  [
    "on a full disk",
    /no space left on the device \(SQLITE_FULL\)/,
    () => {
      const own = statements.connections.at(-1)!;
      const [{ page_count }] = own.pragma("page_count") as [{ page_count: number }];
      own.pragma(`max_page_count = ${page_count}`);
      return () => void own.pragma("max_page_count = 1000000");
    },
  ],
];

it.each(OUTAGES)("a list of jobs that is %s", async (_, reason, begin) => {
  const { path, hold } = harness.config({ steps: 4, holdAt: 2, prints: [{ padding: "x".repeat(20_000) }] });
  const { id } = await harness.train(path);
  await harness.untilJob(id, (job) => job.progress?.step === 2);
  const following = harness.events(id);
  const end = begin();
  // As long as nothing is to be written it is used as ever.
  expect((await harness.fetch(`/api/jobs/${id}`)).status).toBe(200);
  // Room for a few more rows may be left in pages that are there.
  let refused: Response;
  const job = { kind: "train", config: path, title: "z".repeat(200) };
  do refused = await harness.post("/api/jobs", job);
  while (refused.status === 201);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  const { error } = (await refused.json()) as { error: string };
  expect(error).toMatch(/^the list of jobs cannot be used: [^\n]*jobs\.sqlite: [^\n]*: try again$/);
  expect(error).toMatch(reason);
  const health = (await (await harness.fetch("/api/health")).json()) as { faults: string[] };
  expect(health.faults.join("\n")).toMatch(reason);
  expect(log.join("")).toMatch(reason);

  // The run goes on to its end meanwhile.
  harness.release(hold);
  while (!existsSync(join(harness.dataDir, "jobs", id, "attempt-1", "exit"))) await sleep(20);
  end();
  expect(await harness.until(id, "done")).toMatchObject({ attempt: 1, exit_code: 0 });
  const events = await following;
  expect(events).toEqual(await harness.events(id));
  expect(states(events).at(-1)).toBe("done");
  const steps = events.flatMap(({ data }) => (typeof data.step === "number" ? [data.step] : []));
  expect(steps).toEqual([1, 2, 3, 4]);
  expect(((await (await harness.fetch("/api/health")).json()) as { faults: string[] }).faults).toEqual([]);
  expect(log.join("")).toContain("the list of jobs can be used again");
  expect(log.join("")).not.toMatch(/\n\s+at /);
});

it("a worker closes cleanly while its list cannot be written, and the next one finds how its runs ended", async () => {
  const { path, hold } = harness.config({ steps: 3, holdAt: 1 });
  const { id } = await harness.train(path);
  await harness.untilJob(id, (job) => job.progress?.step === 1);
  const other = new Database(join(harness.dataDir, "jobs.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  await harness.stop();
  other.exec("ROLLBACK");
  other.close();
  harness.release(hold);
  await harness.start();
  await harness.until(id, "done");
  const steps = (await harness.events(id)).flatMap(({ data }) =>
    typeof data.step === "number" ? [data.step] : [],
  );
  expect(steps).toEqual([1, 2, 3]);
});
