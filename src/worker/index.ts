/**
 * The Node worker: serves the page and an API for scoring and training jobs over files on its disk. Bound to loopback,
 * behind a token; jobs survive its end.
 */
import { mkdirSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { InputError } from "../core/errors.ts";
import { withRedirects } from "../engine/hub/hosts.ts";
import { fileError } from "../node/file-error.ts";
import { lockFolder } from "../node/lock.ts";
import { PACKAGE } from "../node/package-root.ts";
import { ScienceWorldService } from "../simulator/scienceworld/service.ts";
import { isUpload } from "./api/inputs.ts";
import { openShop } from "./api/shop.ts";
import { createApp } from "./app.ts";
import { defaultDataDir } from "./data-dir.ts";
import { DeviceProbe } from "./device/probe.ts";
import { checkSharedFolder } from "./files/shared-folder.ts";
import { checkConnectOrigin, checkLoopback, checkToken } from "./http/security.ts";
import { listenOnSocket, SOCKET_FILE } from "./http/socket.ts";
import { headerTimeLimit, limitBodyTime, TIME_LIMITS, type TimeLimits } from "./http/time-limits.ts";
import type { Launcher } from "./job/launcher.ts";
import { LocalLauncher } from "./job/local-launcher.ts";
import { openStore } from "./job/open-store.ts";
import { JobQueue } from "./job/queue.ts";
import { FollowedRuns } from "./launch/followed-runs.ts";
import { LAUNCHED, LaunchedRuns } from "./launch/runs.ts";
import { tell } from "./tell.ts";
import { folderToken } from "./token-file.ts";

export { defaultDataDir } from "./data-dir.ts";
export type { JobProcess, Launcher, ProcessEnd, ProcessSpec, Recovered } from "./job/launcher.ts";
export { LOG_FILE, OUTPUT_FILE } from "./job/launcher.ts";
export { LocalLauncher, type LocalLauncherOptions } from "./job/local-launcher.ts";

export const DEFAULT_PORT = 8791;

export interface WorkerOptions {
  /** 8791 if left out; 0 takes any free port. */
  port?: number;
  /** A loopback address; 127.0.0.1 if left out. */
  host?: string;
  /** A unix socket to listen on in place of a port, through a tunnel to which the page is reached (docs/worker.md); true for the one in the data folder. */
  socket?: string | true;
  /** Folder of the built page; the package's own if left out. */
  pageDir?: string;
  /** Origins, as `https://host`, that the page may read files from beside its own; none if left out. The public hub's stands for the hosts that it redirects to, too. */
  connect?: readonly string[];
  /** A folder of the disk whose files the page may list and read; none if left out. */
  filesDir?: string;
  /** Catalogue of a shop that is served by the contract of the released WebShop server; none if left out. */
  shopFile?: string;
  /** ScienceWorld's wheel, JAR or package folder, for the page to play; it is in Java. None if left out. */
  simulator?: string;
  /** Milliseconds of the clock that the leases of the simulator's sessions run by; the process's own if left out. */
  now?: () => number;
  /** Folder of the jobs and their store; `$XDG_DATA_HOME/gcopd` (`~/.local/share/gcopd`) if left out. */
  dataDir?: string;
  /** The one in the data folder's file `token` if left out, which is made, random, when there is none. */
  token?: string;
  /** Processes of this machine if left out. */
  launcher?: Launcher;
  probe?: DeviceProbe;
  /** Milliseconds after which a launched run is asked about again; 5,000 if left out. */
  askEveryMs?: number;
  /** How long clients may take to send a request; `TIME_LIMITS` where left out. */
  timeLimits?: Partial<TimeLimits>;
}

export interface Worker {
  /** Where the page is; on a unix socket, its path. */
  url: string;
  token: string;
  dataDir: string;
  /** Stops the runs, then the server. Jobs with `resume: "auto"` go on at the next start. */
  close(): Promise<void>;
}

/**
 * Starts a worker and resolves once it answers.
 * @throws InputError for an address that is not loopback, a port, a socket or a data folder in use, a shared folder that is not a folder, a shop that is not a catalogue, a simulator that is not one or does not start, or an unfit token.
 */
export async function createWorker(options: WorkerOptions = {}): Promise<Worker> {
  const host = checkLoopback(options.host ?? "127.0.0.1");
  const given = options.token === undefined ? null : checkToken(options.token);
  const files = options.filesDir === undefined ? null : await checkSharedFolder(options.filesDir);
  const shop = options.shopFile === undefined ? null : await openShop(options.shopFile);
  const dataDir = resolve(options.dataDir ?? defaultDataDir());
  try {
    mkdirSync(join(dataDir, "jobs"), { recursive: true, mode: 0o700 });
  } catch (error) {
    const fault = fileError(error, dataDir, "write");
    if (!(fault instanceof InputError)) throw fault;
    throw new InputError(`cannot be made a folder: ${fault.reason}`, { file: dataDir, key: "--data" });
  }

  const unlock = lockFolder(
    join(dataDir, "lock.sqlite"),
    new InputError("another worker uses this data folder: stop it or choose another folder", {
      file: dataDir,
      key: "--data",
    }),
  );
  const closers = [unlock];
  let simulator: ScienceWorldService | null = null;
  try {
    const token = given ?? (await folderToken(dataDir));
    const store = openStore(join(dataDir, "jobs.sqlite"));
    closers.unshift(() => store.close());
    const launcher = options.launcher ?? new LocalLauncher();
    const queue = new JobQueue({ store, launcher, folder: join(dataDir, "jobs") });
    const launched = new FollowedRuns(new LaunchedRuns(join(dataDir, LAUNCHED)), {
      everyMs: options.askEveryMs,
    });
    const probe = options.probe ?? new DeviceProbe();
    const pageDir = options.pageDir ?? join(PACKAGE.root, "dist", "page");

    const connect = withRedirects((options.connect ?? []).map(checkConnectOrigin));

    if (options.simulator !== undefined)
      simulator = await ScienceWorldService.open(resolve(options.simulator), { now: options.now });

    const limits = { ...TIME_LIMITS, ...options.timeLimits };
    const socket = options.socket === true ? join(dataDir, SOCKET_FILE) : options.socket;
    let port = socket === undefined ? (options.port ?? DEFAULT_PORT) : null;
    const app = createApp({
      token,
      pageDir,
      jobsDir: join(dataDir, "jobs"),
      connect,
      files,
      shop,
      simulator,
      port: () => port,
      queue,
      store,
      launched,
      probe,
      uploadIdleMs: limits.uploadIdleMs,
    });
    const server = createAdaptorServer({
      fetch: app.fetch,
      serverOptions: headerTimeLimit(limits.headersMs),
    }) as Server;
    limitBodyTime(server, limits.bodyMs, isUpload);
    // Before there can be an upload, which must not lose its folder.
    await queue.folders.removeUnusedInputs();
    if (socket !== undefined) await listenOnSocket(server, resolve(socket));
    else port = await listen(server, options.port ?? DEFAULT_PORT, host);
    closers.unshift(() => {
      server.close();
      server.closeAllConnections();
    });
    // Only now: a worker that cannot listen must not touch the jobs.
    await queue.recover();

    return {
      url: socket === undefined ? `http://${host === "::1" ? "[::1]" : host}:${port}/` : resolve(socket),
      token,
      dataDir,
      close: async () => {
        server.close();
        await simulator?.shutDown();
        await queue.close();
        await launched.close();
        closeAll(closers);
      },
    };
  } catch (error) {
    await simulator?.shutDown();
    closeAll(closers);
    throw error;
  }
}

/** One that fails keeps no other from closing. */
function closeAll(closers: readonly (() => void)[]): void {
  for (const close of closers) {
    try {
      close();
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
    }
  }
}

/** The port that it listens on. */
function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why =
        error.code === "EADDRINUSE"
          ? `port ${port} is in use: stop the program that has it or choose another port`
          : error.code === "EACCES"
            ? `port ${port} may not be used by this user: choose one above 1023`
            : error.message;
      reject(new InputError(why, { key: "--port" }));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}
