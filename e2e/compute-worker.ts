/**
 * Stops the page's compute worker at a chosen point of its work, or takes its device away there. However fast the
 * machine is, a test can then look at what is shown while a model is at work.
 */
import type { Page } from "@playwright/test";

/** A point of the work, by the messages between the page and the worker. */
export interface Point {
  /** A call of the worker, by its name, the end of a step of training, or so many ends of played episodes. */
  at: { call: string } | { step: number } | { episodes: number };
  /** Which of several such messages; the first when absent. */
  occurrence?: number;
}

/** Runs in the worker, before its own script. */
function inWorker({ at, occurrence = 1 }: Point, what: "hold" | "lose the device", channel: string): void {
  const devices: GPUDevice[] = [];
  let left = occurrence;
  let gate: Promise<void> | null = null;
  let open = (): void => {};
  new BroadcastChannel(channel).onmessage = () => {
    left = 0;
    open();
  };
  const reached = (): void => {
    left -= 1;
    if (left !== 0) return;
    if (what === "hold")
      gate = new Promise((resolve) => {
        open = resolve;
      });
    else devices.at(-1)?.destroy();
  };
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...options) {
    const device = await request.apply(this, options);
    devices.push(device);
    return device;
  };
  // All that is computed comes back through this one.
  const map = GPUBuffer.prototype.mapAsync;
  GPUBuffer.prototype.mapAsync = async function (...options) {
    const result = await map.apply(this, options);
    if (gate !== null) await gate;
    return result;
  };
  if ("call" in at) {
    addEventListener("message", ({ data }: MessageEvent<{ path?: string[] }>) => {
      if (data.path?.join(".") === at.call) reached();
    });
  } else {
    type Told = {
      argumentList?: { value?: { type?: string; event?: { type: string; step?: number } } }[];
    };
    let ended = 0;
    const post = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (message: Told, ...rest: never[]) {
      post.call(this, message, ...rest);
      const { type, event } = message?.argumentList?.[0]?.value ?? {};
      if (type === "ended") ended += 1;
      if (
        "step" in at
          ? event?.type === "updated" && event.step === at.step
          : type === "ended" && ended === at.episodes
      )
        reached();
    };
  }
}

/** The next compute worker that the page starts gets it, and none after that one. */
async function prepare(
  page: Page,
  point: Point,
  what: "hold" | "lose the device",
): Promise<() => Promise<void>> {
  // The page starts its worker soon after it is opened: whatever is asked for later may come too late.
  if (page.url() !== "about:blank")
    throw new Error("holdAt and loseDeviceAt stand before the page is opened");
  const channel = "gcopd-test";
  const head = `(${inWorker})(${[point, what, channel].map((each) => JSON.stringify(each)).join()});\n`;
  await page.route(
    "**/compute.worker-*.js",
    async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `${head}${await response.text()}` });
    },
    { times: 1 },
  );
  return () => page.evaluate((name) => new BroadcastChannel(name).postMessage("go on"), channel);
}

/**
 * What WebGPU computes is held back from that point on, until the returned function is called. Call it before the page
 * is opened.
 */
export const holdAt = (page: Page, point: Point): Promise<() => Promise<void>> =>
  prepare(page, point, "hold");

/** The device is lost at that point, once. Call it before the page is opened. */
export async function loseDeviceAt(page: Page, point: Point): Promise<void> {
  await prepare(page, point, "lose the device");
}

/** Runs before the scripts of the page and of its compute workers. */
function inThread(cores: number): void {
  Object.defineProperty(navigator, "hardwareConcurrency", { value: cores });
  const channel = new BroadcastChannel("gcopd-test-digests");
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      if (options?.name !== "files") return;
      this.addEventListener("message", ({ data }) => {
        if (data.sha256 !== null) channel.postMessage("a digest");
      });
    }
  };
}

/**
 * The page and its compute workers think that the machine has so many cores, but for a worker that `holdAt` or
 * `loseDeviceAt` prepares. Call it before them.
 *
 * @returns how many digests came from file workers since the page was opened
 */
export async function withCores(
  page: Page,
  cores: { page: number; worker: number },
): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const counted = { digests: 0 };
    Object.assign(globalThis, counted);
    new BroadcastChannel("gcopd-test-digests").onmessage = () => {
      counted.digests += 1;
      Object.assign(globalThis, counted);
    };
  });
  await page.addInitScript(inThread, cores.page);
  await page.route("**/compute.worker-*.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `(${inThread})(${cores.worker});\n${await response.text()}` });
  });
  return () => page.evaluate(() => (globalThis as unknown as { digests: number }).digests);
}
