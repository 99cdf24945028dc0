/**
 * ONNX Runtime for pages, with its 28 MB of WebAssembly from the page's own server, loaded when it is first asked for.
 *
 * This is the package's main build. Its `/webgpu` build (1.30.0) has faster kernels, but gave log-probabilities that were
 * wrong by up to 2.9 nats for contexts of 64 tokens and more on a software adapter, where this one stays within 1e-5.
 */
import wasm from "onnxruntime-web/ort-wasm-simd-threaded.jsep.wasm?url";
import type { OnnxRuntime } from "../../../engine/onnx/index.ts";

let loaded: Promise<OnnxRuntime> | null = null;

export function onnxRuntime(): Promise<OnnxRuntime> {
  loaded ??= (async () => {
    const ort = await import("onnxruntime-web");
    ort.env.wasm.wasmPaths = { wasm };
    // Threads of WebAssembly need a page that is isolated from others.
    ort.env.wasm.numThreads = 1;
    return ort;
  })();
  return loaded;
}
