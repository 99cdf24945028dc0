import { expect, it } from "vitest";
import { launchedState } from "./launched-state.ts";
import type { Launched } from "./worker-answers.ts";

const RUN: Launched = {
  ...{ id: "r", target: "box", folder: "/s/gcopd-runs/r", command: "gcopd train", config: null, attempt: 1 },
  ...{ created_at: "2026-11-23T19:00:00Z", submitted: true, state: "running", as_of: "2026-11-23T19:00:10Z" },
  ...{ unreached: null, words: "running", code: null, asked: null, reason: null, expected: null },
  ...{ began_at: null, seconds: null, silent: null, gpu_hours: null, price: null },
  ...{ doing: null, problem: null, fetched_at: null, title: null, gpus: null, price_per_gpu_hour: null },
};

it.each<[Partial<Launched>, string]>([
  [{ submitted: false, state: null, doing: { what: "launch", since: RUN.created_at } }, "starting"],
  [{ submitted: false, state: null }, "lost"],
  [{ state: null }, "queued"],
  [{ state: "queued" }, "queued"],
  [{}, "running"],
  [{ asked: "stop" }, "cancelling"],
  [{ unreached: "box: it does not answer" }, "running"],
  [{ state: "ended", code: 0, asked: "stop" }, "done"],
  [{ state: "ended", code: 143, asked: "stop" }, "cancelled"],
  [{ state: "ended", code: 143 }, "lost"],
  [{ state: "ended", code: 3 }, "cancelled"],
  [{ state: "ended", code: 1 }, "failed"],
  [{ state: "lost" }, "lost"],
  [{ state: "never" }, "lost"],
  [{ state: "never", asked: "cancel" }, "cancelled"],
])("%o is %s", (change, state) => {
  expect(launchedState({ ...RUN, ...change })).toBe(state);
});
