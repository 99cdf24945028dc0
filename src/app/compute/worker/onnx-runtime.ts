/**
 * ONNX Runtime for pages, with its 28 MB of WebAssembly from the page's own server, loaded when it is first asked for.
 *
 * This is the package's main build. Its `/webgpu` build (1.30.0) has faster kernels, but gave log-probabilities that were
 * wrong by up to 2.9 nats for contexts of 64 tokens and more on a software adapter, where this one stays within 1e-5.
 */
import wasm from "onnxruntime-web/ort-wasm-simd-threaded.jsep.wasm?url";
import { InputError } from "../../../core/errors.ts";
import type { OnnxRuntime } from "../../../engine/onnx/index.ts";
import { fetchBlob } from "../../data/library/sample.ts";

const NAME = "ONNX Runtime";

let loaded: Promise<OnnxRuntime> | null = null;

/** The runtime. Where it could not be loaded, the next call loads it again. */
export function onnxRuntime(): Promise<OnnxRuntime> {
  loaded ??= load().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

async function load(): Promise<OnnxRuntime> {
  // The package would fetch it once only, and take a failure for one of the model. It comes before the script, since some
  // browsers do not import again what failed to load once.
  const binary = await (await fetchBlob(wasm, NAME)).arrayBuffer();
  const ort = await import("onnxruntime-web").catch((cause: unknown) => {
    throw new InputError(
      "its script did not load. Check that the page's server runs, then reload the page",
      { file: NAME },
      { cause },
    );
  });
  ort.env.wasm.wasmBinary = binary;
  // Threads of WebAssembly need a page that is isolated from others.
  ort.env.wasm.numThreads = 1;
  return ort;
}
