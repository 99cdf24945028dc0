import { afterEach, expect, it, vi } from "vitest";
import { newRun } from "../../runs/runs-store.ts";
import { worker } from "../../runs/worker-client.ts";
import { studentsOf } from "./open-student.ts";

afterEach(() => vi.restoreAllMocks());

it("offers the folders that hold a model, and says where the weights of the others are", async () => {
  const state = {
    format: "gcopd.tinker.v1",
    server: "http://127.0.0.1:8000",
    path: "tinker://m/weights/step-2",
  };
  const paths = [
    ...["config.json", "model.safetensors", "optimizer.safetensors"].map(
      (name) => `checkpoints/step-00000001/${name}`,
    ),
    ...["tinker.json", "checkpoint.json", "manifest.json"].map((name) => `checkpoints/step-00000002/${name}`),
    ...["adapter_config.json", "adapter_model.safetensors"].map((name) => `student/${name}`),
    ...["tokenizer/tokenizer.json", "metrics.jsonl"],
  ];
  vi.spyOn(worker, "results").mockResolvedValue(paths.map((path) => ({ path, bytes: 10 })));
  const file = vi.spyOn(worker, "file").mockImplementation(async () => new Blob([JSON.stringify(state)]));
  const run = newRun({
    id: "train-1",
    where: "worker",
    title: "t",
    config: {},
    created: "2026-01-01T00:00:00Z",
  });
  expect(await studentsOf(run)).toMatchObject([
    {
      label: "at its end",
      elsewhere: expect.stringContaining("an adapter for the model that the run began from"),
    },
    {
      label: "after step 2",
      step: 2,
      elsewhere: "its weights are on the server http://127.0.0.1:8000, as tinker://m/weights/step-2",
    },
    { label: "after step 1", step: 1, bytes: 30, elsewhere: null },
  ]);
  expect(file.mock.calls.map(([, path]) => path)).toEqual(["checkpoints/step-00000002/tinker.json"]);
});
