/** Dawn in Node: npm `webgpu`, whose native module is loaded only when a GPU is asked for. */

/** Comma-separated Dawn toggles to turn on in place of our own choice: `GCOPD_DAWN_FEATURES=allow_unsafe_apis,…`. */
export const DAWN_FEATURES = "GCOPD_DAWN_FEATURES";

/**
 * Every instance of this process: Dawn looks for its events once more after the last promise is kept, and one that was
 * collected by then leaves the process waiting for a lock that is gone.
 */
const OPENED: GPU[] = [];

/**
 * An instance that lives as long as the process.
 *
 * @param flags as Dawn names them: `adapter=…`, `enable-dawn-features=…`. Without `backend=…`, Linux has Vulkan; elsewhere
 *   Dawn's own choice is right (Metal, Direct3D 12).
 * @throws Error when Dawn does not run on this system
 */
export async function openDawn(flags: readonly string[] = []): Promise<GPU> {
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  restBetweenTicks();
  const chosen = process.platform !== "linux" || flags.some((flag) => flag.startsWith("backend="));
  const gpu = create([...(chosen ? [] : ["backend=vulkan"]), ...flags]);
  OPENED.push(gpu);
  return gpu;
}

/** Milliseconds between two looks at the GPU; the system's timer makes about 0.1 of it. */
const REST = 0.05;
let resting = false;

/**
 * Makes Dawn's wait for the GPU a short sleep instead of a busy loop. While a promise is pending, Dawn calls the global
 * `setImmediate` with a function of its own, again and again, and keeps a processor busy: one that a software adapter
 * computes on, or that other trainings beside this one need. Others' calls are as they were.
 */
function restBetweenTicks(): void {
  // The timer of Windows ticks every 1 to 16 ms: that would be a long rest.
  if (resting || process.platform === "win32") return;
  resting = true;
  const { setImmediate: immediate } = globalThis;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const isNative = (callback: unknown): boolean =>
    Function.prototype.toString.call(callback).includes("[native code]");
  globalThis.setImmediate = Object.assign((callback: (...all: unknown[]) => void, ...all: unknown[]) => {
    if (!isNative(callback)) return immediate(callback, ...all);
    return immediate(() => {
      Atomics.wait(clock, 0, 0, REST);
      callback(...all);
    });
  }, immediate) as typeof setImmediate;
}
