import { beforeEach, expect, it, vi } from "vitest";
import { runHook } from "../../../../test/support/run-hook.ts";
import { librarySummary } from "../../../../test/support/summaries.ts";
import { InputError } from "../../../core/errors.ts";
import type { AblationMatrix, LibraryStatistics } from "../../../core/statistics/index.ts";
import { useAblation } from "./use-ablation.ts";
import { useStatistics } from "./use-statistics.ts";

const AWAY = "sources.jsonl: the worker does not answer: is it still running?";
const worker = vi.hoisted(() => ({
  ablation: vi.fn(),
  stopAblation: vi.fn(),
  statistics: vi.fn(),
  stopStatistics: vi.fn(),
}));
vi.mock("../../data/library-client.ts", () => ({ libraryWorker: () => worker }));

const library = librarySummary({ library: "own", disk: [], addresses: [] }, []);
const failed = { status: "failed", message: AWAY };

beforeEach(() => {
  for (const ask of [worker.ablation, worker.statistics])
    ask.mockReset().mockRejectedValueOnce(new InputError(AWAY));
});

it("computes the matrix that failed when it is asked for once more", async () => {
  const matrix = {} as AblationMatrix;
  worker.ablation.mockResolvedValueOnce(matrix);
  const page = await runHook(() => useAblation(library, null, {}));
  await page.act(() => page.now().compute());
  expect(page.now().state).toEqual(failed);
  await page.act(() => page.now().compute());
  expect(page.now().state).toEqual({ status: "done", matrix });
  await page.leave();
});

it("counts statistics that failed when it is asked for once more", async () => {
  const statistics = {} as LibraryStatistics;
  worker.statistics.mockResolvedValueOnce(statistics);
  const page = await runHook(() => useStatistics(library, {}));
  expect(page.now().state).toEqual(failed);
  await page.act(() => page.now().tryAgain());
  expect(page.now().state).toEqual({ status: "done", statistics });
  await page.leave();
});
