import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { isThere } from "../../node/file-error.ts";
import { SOCKET_FILE } from "../../worker/http/socket.ts";
import { createWorker, DEFAULT_PORT, defaultDataDir } from "../../worker/index.ts";
import { readTokenFile, TOKEN_FILE } from "../../worker/token-file.ts";
import { UsageError } from "../command.ts";

interface Options {
  port?: number;
  host?: string;
  socket?: string | true;
  data?: string;
  token?: string;
  tokenFile?: string;
  page?: string;
  connect?: string[];
  files?: string;
  shop?: string;
  simulator?: string;
  open?: boolean;
}

export function register(program: Command): void {
  program
    .command("worker")
    .description("Serve the page and the job API on this machine until it is interrupted.")
    .option("--port <number>", `port to listen on; 0 takes any free one (default: ${DEFAULT_PORT})`, toPort)
    .option(
      "--host <address>",
      "loopback address to listen on: 127.0.0.1, ::1 or localhost (default: 127.0.0.1)",
    )
    .option(
      "--socket [path]",
      `unix socket to listen on instead of a port, for \`gcopd connect\` from another machine (default: "${SOCKET_FILE}" in the data folder)`,
    )
    .option("--data <folder>", `folder of the jobs and their results (default: ${defaultDataDir()})`)
    .option(
      "--token-file <file>",
      `file with the token of the API, which only you may read (mode 0600; default: "${TOKEN_FILE}" in the data folder, made when it is not there)`,
    )
    .option(
      "--token <token>",
      "token of the API, which everyone on this machine can then read in the list of processes (default: $GCOPD_TOKEN, or that of the file)",
    )
    .option("--page <folder>", "folder of the built page (default: the package's own)")
    .option(
      "--connect <origin>",
      "let the page read libraries, or models of a hub, from this origin too (https://HOST), besides its own; may be repeated",
      (origin: string, before: string[] = []) => [...before, origin],
    )
    .option("--files <folder>", "let the page list and read the files of this folder, and none outside it")
    .option(
      "--shop <file>",
      "serve a shop's catalogue under /api/shop, by the contract of the released WebShop server",
    )
    .option(
      "--simulator <path>",
      "let the page play ScienceWorld: its wheel, JAR or package folder, version 1.2.3; needs Java",
    )
    .option("--open", "open the page in the browser")
    .action(async (options: Options) => {
      const { token: given, tokenFile } = options;
      if (given !== undefined && tokenFile !== undefined)
        throw new UsageError("--token and --token-file: expected one of them");
      if (given !== undefined)
        process.stderr.write(
          "--token: others on this machine can read it in the list of processes; --token-file keeps it from them.\n",
        );
      const fromFile = tokenFile === undefined ? undefined : await readTokenFile(tokenFile, "--token-file");
      const token = given ?? fromFile ?? (process.env.GCOPD_TOKEN || undefined);
      const {
        port,
        host,
        socket,
        data: dataDir,
        page: pageDir,
        connect,
        files: filesDir,
        shop: shopFile,
      } = options;
      const { simulator } = options;
      // The package's own may be built after the worker has started; a named one is there, or misspelt.
      if (pageDir !== undefined && !isThere(join(pageDir, "index.html"))) {
        throw new InputError(`expected a folder with the page's index.html, got ${JSON.stringify(pageDir)}`, {
          key: "--page",
        });
      }
      if (socket !== undefined)
        for (const [name, value] of Object.entries({ port, host, open: options.open }))
          if (value !== undefined) throw new UsageError(`--socket and --${name}: expected one of them`);
      const worker = await createWorker({
        ...{ port, host, socket, dataDir, token, pageDir, connect },
        ...{ filesDir, shopFile, simulator },
      });
      process.stdout.write(`${worker.url}\n`);
      const where = token === undefined ? `, the API's token in ${join(worker.dataDir, TOKEN_FILE)}` : "";
      process.stderr.write(`Jobs are kept in ${worker.dataDir}${where}. Press Ctrl-C to stop.\n`);
      if (options.open) openBrowser(worker.url);
      await interrupted();
      process.stderr.write("Stopping.\n");
      await worker.close();
    });
}

export function toPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port: expected a whole number from 0 to 65535, got ${JSON.stringify(text)}`);
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; the second ends the process at once. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(130));
        resolve();
      });
    }
  });
}

function openBrowser(url: string): void {
  const [command, args] =
    process.platform === "darwin"
      ? ["open", [url]]
      : process.platform === "win32"
        ? ["cmd", ["/c", "start", "", url]]
        : ["xdg-open", [url]];
  const child = spawn(command as string, args as string[], { stdio: "ignore", detached: true });
  child.on("error", () => process.stderr.write(`No browser could be opened: open ${url} yourself.\n`));
  child.unref();
}
