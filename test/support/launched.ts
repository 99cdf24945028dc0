import type { Launched } from "../../src/app/compute/runs/worker-answers.ts";

/** A run that was launched on a target and runs there, as the worker tells of it. */
export const launched = (over: Partial<Launched> = {}): Launched => ({
  ...{ id: "r", target: "box", folder: "/s/gcopd-runs/r", command: "gcopd train", config: null, attempt: 1 },
  ...{ created_at: "2026-11-23T19:00:00Z", submitted: true, state: "running", as_of: "2026-11-23T19:00:10Z" },
  ...{ unreached: null, words: "running", code: null, asked: null, reason: null, expected: null },
  ...{ began_at: null, seconds: null, silent: null, gpu_hours: null, price: null },
  ...{ doing: null, problem: null, fetched_at: null, title: null, gpus: null, price_per_gpu_hour: null },
  ...over,
});
