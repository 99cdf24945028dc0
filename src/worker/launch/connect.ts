/** The worker of another machine, which listens on a unix socket there, through a tunnel of ssh (docs/worker.md). */
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../core/errors.ts";
import { inTemporaryFolder } from "../../node/whole-file.ts";
import { checkToken } from "../http/security.ts";
import { SOCKET_FILE } from "../http/socket.ts";
import { TOKEN_FILE } from "../token-file.ts";
import { servePage } from "./page-proxy.ts";
import { MARK, type Shell, script } from "./shell.ts";
import { type SshAddress, sshShell, tunnel } from "./ssh.ts";

export interface Connection {
  place: SshAddress;
  /** Port of this machine, for the page; 0 for any free one. */
  port: number;
  /** Path of the socket there; in that user's data folder if left out. */
  socket?: string | undefined;
  /** The file with the worker's token there; in that user's data folder if left out. */
  tokenFile?: string | undefined;
  /** Milliseconds before a connection that broke is tried again. */
  againMs: number;
  /** Ends the connection. */
  until: AbortSignal;
  /** The page is there now, at this port. */
  opened(port: number): void;
  /** It was not reached since then, why, in one line. Told again when the reason changes. */
  broken(since: Date, why: string): void;
}

/**
 * Keeps the tunnel to a worker until it is ended, and its page at the port.
 *
 * @throws InputError where the worker cannot be reached at first: by ssh, through its socket, or with its token
 */
export function keepConnection(connection: Connection): Promise<void> {
  // Only this user may enter it: whoever reaches the tunnel's end reaches the worker.
  return inTemporaryFolder("gcopd-", (folder) => keptConnection(connection, join(folder, "worker.sock")));
}

/** @param local this end of the tunnel */
async function keptConnection(connection: Connection, local: string): Promise<void> {
  const { until, againMs, port, opened, broken } = connection;
  let token: string | null = null;
  let since: Date | null = null;
  let said = "";
  const page = await servePage(port, local, () => token);
  try {
    for (let first = true; !until.aborted; ) {
      try {
        await connectOnce(connection, local, (found) => {
          token = found;
          opened(page.port);
          first = false;
          since = null;
          said = "";
        });
      } catch (error) {
        if (until.aborted) return;
        if (first || !(error instanceof InputError)) throw error;
        since ??= new Date();
        if (error.message !== said) broken(since, error.message);
        said = error.message;
        await sleep(againMs, undefined, { signal: until }).catch(() => undefined);
      }
    }
  } finally {
    page.close();
  }
}

/** Ends when it was asked to; throws when the connection breaks. */
async function connectOnce(
  connection: Connection,
  local: string,
  opened: (token: string) => void,
): Promise<void> {
  const { place, until } = connection;
  const shell = sshShell(place);
  const { socket, token } = await findWorker(shell, connection);
  const givenUp = new AbortController();
  let isUp = () => {};
  const up = new Promise<void>((resolve) => {
    isUp = resolve;
  });
  const ended = tunnel(place, { local, socket }, AbortSignal.any([until, givenUp.signal]), isUp);
  await Promise.race([up, ended]);
  const why = until.aborted ? null : await refusal(local, token);
  if (why === null) {
    if (!until.aborted) opened(token);
    await ended;
    return;
  }
  givenUp.abort();
  await ended;
  throw new InputError(`${socket}: ${why}`, { file: shell.place });
}

/** Why the worker behind a socket cannot be used; null where it can. */
async function refusal(socketPath: string, token: string): Promise<string | null> {
  const headers = { Host: "localhost", Authorization: `Bearer ${token}` };
  const status = await new Promise<number | undefined>((resolve) => {
    const asked = request({ socketPath, path: "/api/health", headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on("error", () => resolve(undefined));
    asked.end();
  });
  switch (status) {
    case 200:
      return null;
    case 401:
      return "its worker has a different token; name its file with --token-file";
    case undefined:
      return "no worker answers there: start one with gcopd worker --socket; if one is running, the ssh server must allow AllowStreamLocalForwarding";
    default:
      return `expected a worker, got status ${status}`;
  }
}

/** Where a worker's socket is, and its token: over ssh's own channel, so that no list of processes shows it. */
async function findWorker(
  shell: Shell,
  { socket, tokenFile }: Pick<Connection, "socket" | "tokenFile">,
): Promise<{ socket: string; token: string }> {
  const answer = await script(shell, FIND, socket ?? "", tokenFile ?? "");
  const text = Buffer.from(answer.out).toString();
  const [path = "", token = ""] = text.slice(text.indexOf(`${MARK}\n`) + MARK.length + 1).split("\n");
  if (answer.code !== 0) {
    const said = answer.err.split("\n").at(-1) ?? "";
    throw new InputError(said === "" ? `the shell there exited with code ${answer.code}` : said, {
      file: shell.place,
    });
  }
  if (!/^\/[^:\\]+$/.test(path))
    throw new InputError(`expected a socket whose path has no ":" and no "\\", got ${JSON.stringify(path)}`, {
      file: shell.place,
      key: "--socket",
    });
  return { socket: path, token: checkToken(token.trim(), { file: shell.place, key: "token" }) };
}

const FIND = `base=$XDG_DATA_HOME
case $base in /*) ;; *) base=$HOME/.local/share ;; esac
socket=\${1:-$base/gcopd/${SOCKET_FILE}} token=\${2:-$base/gcopd/${TOKEN_FILE}}
case $socket in /*) ;; *) socket=$PWD/$socket ;; esac
refuse() { echo "$1" >&2; exit 66; }
[ -S "$socket" ] || refuse "no socket at $socket; start gcopd worker --socket there"
[ -O "$socket" ] || refuse "the socket $socket belongs to another user"
[ -r "$token" ] || refuse "cannot read the token file $token; name the worker's with --token-file"
[ -O "$token" ] || refuse "the token file $token belongs to another user"
echo ${MARK}
echo "$socket"
cat "$token"`;
