/** Asks for a WebGPU adapter in a process of its own: a driver that crashes must not end the worker. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { passingFault } from "../../node/file-error.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { Adapter, type DeviceReport } from "../../protocol/device.ts";

export interface DeviceProbeOptions {
  /** Script that prints an adapter, or null, as one line of JSON. */
  script?: string;
  timeoutMs?: number;
}

export class DeviceProbe {
  readonly #script: string;
  readonly #timeoutMs: number;
  #report: Promise<DeviceReport> | null = null;
  #looking = false;

  constructor(options: DeviceProbeOptions = {}) {
    this.#script = options.script ?? join(PACKAGE.root, "bin", "probe-adapter.mjs");
    this.#timeoutMs = options.timeoutMs ?? 30_000;
  }

  /**
   * The same answer each time unless `refresh` asks for a new look; all who ask during a look share it. Never rejects:
   * trouble is in the message.
   */
  report(refresh = false): Promise<DeviceReport> {
    if (this.#report === null || (refresh && !this.#looking)) {
      this.#looking = true;
      this.#report = this.#probe().finally(() => {
        this.#looking = false;
      });
    }
    return this.#report;
  }

  #probe(): Promise<DeviceReport> {
    return new Promise((resolve) => {
      const options = { timeout: this.#timeoutMs, killSignal: "SIGKILL", encoding: "utf8" } as const;
      const child = execFile(process.execPath, [this.#script], options, (error, stdout, stderr) => {
        if (error !== null) {
          // No word on the device: the next who asks looks again.
          if (passingFault(error) !== null) this.#report = null;
          const last = stderr.trim().split("\n").at(-1) ?? "";
          const how = child.killed
            ? `no answer within ${this.#timeoutMs / 1000} s`
            : child.signalCode !== null
              ? `the driver's process was ended by ${child.signalCode}`
              : (passingFault(error) ?? last);
          resolve(none(`WebGPU cannot be used here: ${how}`));
          return;
        }
        resolve(toReport(stdout));
      });
    });
  }
}

function toReport(stdout: string): DeviceReport {
  const line = stdout.trim().split("\n").at(-1) ?? "";
  try {
    const adapter = Adapter.nullable().parse(JSON.parse(line));
    if (adapter === null) return none("No WebGPU adapter was found: jobs compute on the processor, slowly");
    const name = adapter.description || adapter.device || `${adapter.vendor} ${adapter.architecture}`.trim();
    if (!adapter.software) return { device: "webgpu", adapter, message: name };
    const message = `${name} is a software adapter: jobs compute in plain TypeScript unless they ask for webgpu`;
    return { device: "cpu", adapter, message };
  } catch {
    return none("WebGPU cannot be used here: the adapter's description could not be read");
  }
}

function none(message: string): DeviceReport {
  return { device: "cpu", adapter: null, message };
}
