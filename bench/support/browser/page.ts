/** A Chromium without a display, and a page in it whose Web Worker does what it is asked through a server of our own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import type { TimedWorks } from "./timed-work.ts";
import program from "./worker.ts?program";

export interface Call {
  id: number;
  method: "open" | "run" | "close";
  args: unknown[];
}
export type Answer = { id: number } & ({ value: unknown } | { error: string });

const PAGE = `<!doctype html><title>bench</title><script>
const worker = new Worker("/worker.js", { type: "module" });
worker.onerror = (event) => fetch("/answer", { method: "POST",
  body: JSON.stringify({ id: 0, error: "the page's worker: " + (event.message || "its program cannot be loaded") }) });
</script>`;

/** Milliseconds that a question without an answer stays open. */
const POLL = 20_000;
const RUNTIME = "ort-wasm-simd-threaded.jsep.wasm";
/** Folders of the working directory that the page may read. */
const SERVED = ["public/sample", "test/fixtures/onnx"];

function servedFile(path: string): string | null {
  if (path === `/${RUNTIME}`) return createRequire(import.meta.url).resolve(`onnxruntime-web/${RUNTIME}`);
  const file = resolve(`.${path}`);
  return SERVED.some((folder) => file.startsWith(resolve(folder) + sep)) ? file : null;
}

/** Without a display. */
export const FLAGS = ["--headless=new", "--no-sandbox", "--no-first-run", "--disable-dev-shm-usage"];
/** A card's own driver, where there is no display. */
export const CARD_FLAGS = [
  "--enable-unsafe-webgpu",
  ...["--use-angle=vulkan", "--enable-features=Vulkan", "--disable-vulkan-surface"],
  ...["--ignore-gpu-blocklist", "--disable-gpu-sandbox"],
];
export const SOFTWARE_FLAGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

export interface PageOptions {
  /** Path of a Chromium. */
  browser: string;
  /** Dawn's toggles, comma-separated. */
  toggles: string;
  software: boolean;
  /** Further arguments of the browser: the last of two that contradict each other holds. */
  args: readonly string[];
}

/** The page, as far as its worker can be asked. Whatever ends the browser or the worker rejects what is asked. */
export class BenchPage implements Pick<TimedWorks, "open" | "run" | "close"> {
  readonly #waiting: Call[] = [];
  readonly #asked = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #poll: ServerResponse | null = null;
  #failure: Error | null = null;
  #calls = 0;
  #said = "";

  private constructor(
    private readonly server: Server,
    private readonly browser: ChildProcess,
    private readonly profile: string,
  ) {}

  static async start({ browser, toggles, software, args }: PageOptions): Promise<BenchPage> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const profile = await mkdtemp(join(tmpdir(), "gcopd-bench-browser-"));
    const child = spawn(
      browser,
      [
        ...FLAGS,
        ...(software ? SOFTWARE_FLAGS : CARD_FLAGS),
        `--enable-dawn-features=${toggles}`,
        `--user-data-dir=${profile}`,
        ...args,
        `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      ],
      // A group of its own, so that none of its processes is left.
      { stdio: ["ignore", "ignore", "pipe"], detached: true },
    );
    const page = new BenchPage(server, child, profile);
    server.on("request", (request, response) => void page.#serve(request, response));
    child.stderr!.on("data", (data: Buffer) => {
      page.#said = (page.#said + data.toString()).slice(-4000);
    });
    process.once("exit", () => page.#kill());
    child.on("error", (error) => page.#fail(`the browser ${browser} cannot be started: ${error.message}`));
    child.on("exit", (code, signal) =>
      page.#fail(`the browser ended (${signal ?? code}); the last that it said:\n${page.#said}`),
    );
    return page;
  }

  open = (...args: Parameters<TimedWorks["open"]>) => this.#ask<"open">("open", args);
  run = (...args: Parameters<TimedWorks["run"]>) => this.#ask<"run">("run", args);
  close = (...args: Parameters<TimedWorks["close"]>) => this.#ask<"close">("close", args);

  /** Ends the browser; false where it has ended already. */
  #kill(): boolean {
    const { pid, exitCode, signalCode } = this.browser;
    if (pid === undefined || exitCode !== null || signalCode !== null) return false;
    return process.kill(-pid, "SIGKILL");
  }

  async stop(): Promise<void> {
    this.#fail("the page was closed");
    const ended = once(this.browser, "exit");
    if (this.#kill()) await ended;
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #ask<M extends Call["method"]>(method: M, args: unknown[]): ReturnType<TimedWorks[M]> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#calls += 1;
      this.#asked.set(this.#calls, { resolve, reject });
      this.#waiting.push({ id: this.#calls, method, args });
      this.#hand();
    }) as ReturnType<TimedWorks[M]>;
  }

  #hand(): void {
    const poll = this.#poll;
    if (poll === null || this.#waiting.length === 0) return;
    this.#poll = null;
    poll.end(JSON.stringify(this.#waiting.shift()));
  }

  #fail(reason: string): void {
    this.#failure ??= new Error(reason);
    for (const { reject } of this.#asked.values()) reject(this.#failure);
    this.#asked.clear();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const send = (type: string, body: string | Uint8Array) =>
      response.writeHead(200, { "content-type": type }).end(body);
    if (path === "/") send("text/html", PAGE);
    else if (path === "/worker.js") send("text/javascript", program);
    else if (path === "/next") {
      this.#poll = response;
      setTimeout(() => {
        if (this.#poll !== response) return;
        this.#poll = null;
        response.writeHead(204).end();
      }, POLL).unref();
      this.#hand();
    } else if (path === "/answer") {
      let text = "";
      for await (const piece of request) text += piece;
      response.writeHead(204).end();
      this.#take(JSON.parse(text) as Answer);
    } else {
      const file = servedFile(path);
      const found = file && (await readFile(file).catch(() => null));
      if (found === null) response.writeHead(404).end();
      else send(path.endsWith(".wasm") ? "application/wasm" : "application/octet-stream", found);
    }
  }

  #take(answer: Answer): void {
    if (answer.id === 0 && "error" in answer) this.#fail(answer.error);
    const asked = this.#asked.get(answer.id);
    this.#asked.delete(answer.id);
    if ("error" in answer) asked?.reject(new Error(`in the page: ${answer.error}`));
    else asked?.resolve(answer.value);
  }
}
