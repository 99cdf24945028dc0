/** Runs of earlier visits, as the browser keeps them: with as many steps, seeds and configs as a test wants. */
import type { Page } from "./site.ts";

export interface Kept {
  /** Twelve digits; the id is page-DIGITS. */
  digits: string;
  config: Record<string, unknown>;
  state?: "done" | "cancelled";
  /** Loss at each step, over two stages of as many steps. */
  losses: readonly number[];
  /** What other figures are at each step; 0 otherwise. */
  metrics?: Record<string, number>;
}

/** The kept run, with the events that its figures are made from. */
function recordOf({ digits, config, state = "done", losses, metrics = {} }: Kept) {
  const time = "2025-06-01T10:00:00.000Z";
  const model = { model: "tiny", device: "cpu", adapter: "", dtype: "f32" };
  const half = losses.length / 2;
  const events = losses.flatMap((loss, n) => {
    const stage = n < half ? 0 : 1;
    const begun = { type: "stage", stage, name: stage === 0 ? "vanilla" : "graph-conditioned", epochs: 1 };
    const updated = {
      ...{ type: "updated", step: n + 1, stage, seconds: 1, tokensPerSecond: 10 },
      metrics: {
        ...{ loss, gradNorm: 1, clipFraction: 0, meanAdvantage: -loss, rolloutKl: 0, alignment: 0.5 },
        ...{ tokens: 10, ...metrics },
      },
    };
    return n === 0 || n === half ? [begun, { type: "epoch", stage, batches: half }, updated] : [updated];
  });
  const start = { type: "start", steps: losses.length, unit: "episode", resumedFrom: null };
  return {
    ...{
      id: `page-${digits}`,
      where: "page",
      title: `run ${digits.at(-1)}`,
      command: null,
      state,
      plan: null,
    },
    ...{ message: null, created: `2025-06-01T10:0${digits.at(-1)}:00.000Z`, ended: time },
    config: { library: "sample", episodes: "sample", teacher: "sample", student: "sample", ...config },
    events: [
      { ...start, teacher: model, student: model },
      ...events,
      { type: "done", step: losses.length },
    ].map((event) => ({ time, ...event })),
  };
}

/** Puts runs among those that the browser keeps; the page reads them when it is opened next. */
export async function keepRuns(page: Page, runs: readonly Kept[]): Promise<void> {
  await page.evaluate(async (records) => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open("gcopd-runs"));
    for (const record of records)
      await done(database.transaction("runs", "readwrite").objectStore("runs").put(record));
    database.close();
  }, runs.map(recordOf));
}
