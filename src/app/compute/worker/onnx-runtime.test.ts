import { afterAll, beforeEach, expect, it, vi } from "vitest";

const WASM = "/assets/ort.wasm";
const WASM_URL = "onnxruntime-web/ort-wasm-simd-threaded.jsep.wasm?url";

let fetched: string[];
let answer: () => Promise<Response>;
let script: () => object;

beforeEach(() => {
  fetched = [];
  answer = async () => new Response("\0asm");
  script = () => ({ env: { wasm: {} } });
  vi.resetModules();
  vi.doMock(WASM_URL, () => ({ default: WASM }));
  vi.doMock("onnxruntime-web", () => script());
  vi.stubGlobal("fetch", (url: string) => {
    fetched.push(url);
    return answer();
  });
});

afterAll(() => {
  for (const path of [WASM_URL, "onnxruntime-web"]) vi.doUnmock(path);
});

/** As a page that was just opened has it. */
const opened = async () => (await import("./onnx-runtime.ts")).onnxRuntime;

const broken = (): Response =>
  new Response(new ReadableStream({ start: (body) => body.error(new TypeError("network error")) }));

const AWAY = "could not be fetched: is the workbench's server still running?";

it.each([
  ["the server is away", () => Promise.reject(new TypeError("network error")), AWAY],
  ["the server lost it", async () => new Response("", { status: 404 }), "the server answered 404"],
  ["the download breaks off", async () => broken(), AWAY],
])("is loaded again after a time when %s", async (_, fault, problem) => {
  const onnxRuntime = await opened();
  const sound = answer;
  answer = fault;
  const message = `ONNX Runtime: ${problem}`;
  await expect(onnxRuntime()).rejects.toMatchObject({ name: "InputError", message });
  answer = sound;
  expect(await onnxRuntime()).toMatchObject({ env: { wasm: { numThreads: 1 } } });
});

it("has its WebAssembly from one download", async () => {
  const onnxRuntime = await opened();
  const [ort, again] = [await onnxRuntime(), await onnxRuntime()];
  expect(again).toBe(ort);
  expect(fetched).toEqual([WASM]);
  const { wasmBinary } = (ort as unknown as typeof import("onnxruntime-web")).env.wasm;
  expect(new TextDecoder().decode(wasmBinary as ArrayBuffer)).toBe("\0asm");
});

it("says what helps where its script does not load", async () => {
  script = () => {
    throw new TypeError("Failed to fetch dynamically imported module");
  };
  const message =
    "ONNX Runtime: its script did not load. Check that the page's server runs, then reload the page";
  await expect((await opened())()).rejects.toMatchObject({ name: "InputError", message });
});
