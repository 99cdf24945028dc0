/** The page's side of `bench/browser.ts`: a Web Worker that asks its server what to do and answers with what it took. */
import { onnxRuntime } from "../../../src/app/compute/worker/onnx-runtime.ts";
import { createBrowserBackend } from "../../../src/engine/native/index.ts";
import { OnnxScorer } from "../../../src/engine/onnx/index.ts";
import { fetchedFolder } from "../../../test/support/fetched-folder.ts";
import type { Answer, Call } from "./page.ts";
import { TimedWorks } from "./timed-work.ts";

const works = new TimedWorks({
  openBackend: () => createBrowserBackend("webgpu", { compute: "auto" }),
  folder: ({ path, files }) => fetchedFolder(path, `/${path}`, files),
  openOnnx: async (folder) => OnnxScorer.open(await onnxRuntime(), folder),
});

async function answer({ id, method, args }: Call): Promise<Answer> {
  try {
    const value = await (works[method] as (...given: unknown[]) => Promise<unknown>).apply(works, args);
    return { id, value };
  } catch (error) {
    return { id, error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}

// A browser that has just started may not have its adapter yet.
for (let tries = 0; tries < 100 && !(await navigator.gpu?.requestAdapter()); tries++)
  await new Promise((resolve) => setTimeout(resolve, 200));

for (;;) {
  const response = await fetch("/next");
  if (response.status === 200)
    await fetch("/answer", {
      method: "POST",
      body: JSON.stringify(await answer((await response.json()) as Call)),
    });
}
