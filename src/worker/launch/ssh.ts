/** A shell over ssh, with the user's own configuration, keys and agent: it asks nothing and keeps no secret. */
import { Writable } from "node:stream";
import { type Answer, collect, MARK, quoted, type Shell, type Streams, Unreachable } from "./shell.ts";

export interface SshAddress {
  /** Host, or its name in the ssh configuration. */
  host: string;
  user?: string | undefined;
  port?: number | undefined;
  /** In place of the user's own configuration file. */
  ssh_config?: string | undefined;
}

export function sshShell(to: SshAddress): Shell {
  const place = placeOf(to);
  return {
    place,
    exec: (args, streams) => ssh(to, [], args.map(quoted).join(" "), streams),
  };
}

/**
 * Forwards a unix socket of this machine to one of another, until `until` is aborted or the connection breaks. A
 * connection of its own: one that is shared would keep the socket.
 *
 * @param up called once the socket is there
 * @throws Unreachable when the connection cannot be made, or broke
 */
export async function tunnel(
  to: SshAddress,
  { local, socket }: { local: string; socket: string },
  until: AbortSignal,
  up: () => void,
): Promise<void> {
  let out = "";
  const into = new Writable({
    write(bytes, _, done) {
      if (!out.includes(MARK)) {
        out += String(bytes);
        if (out.includes(MARK)) up();
      }
      done();
    },
  });
  const own = [
    "ControlMaster=no",
    "ControlPath=none",
    "ExitOnForwardFailure=yes",
    "StreamLocalBindUnlink=yes",
  ];
  const forward = [...own.flatMap((option) => ["-o", option]), "-L", `${local}:${socket}`];
  try {
    // Ends with our end of its standard input, so that nothing is left where this process is killed.
    await ssh(to, forward, `echo ${MARK} && exec cat`, { input: { until }, into });
    throw new Unreachable(`${placeOf(to)}: the connection broke`);
  } catch (error) {
    if (!(error instanceof Unreachable) || !until.aborted) throw error;
  }
}

async function ssh(
  to: SshAddress,
  more: readonly string[],
  command: string,
  streams: Streams | undefined,
): Promise<Answer> {
  const { port, ssh_config: config } = to;
  const place = placeOf(to);
  const options = [
    // No question that nobody would answer, and an end for a connection that died.
    ...["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"],
    ...["-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"],
    ...(config === undefined ? [] : ["-F", config]),
    ...(port === undefined ? [] : ["-p", String(port)]),
  ];
  const answer = await collect("ssh", [...options, ...more, "--", place, command], streams);
  // ssh's own code: the connection could not be made, or broke.
  if (answer.code === 255) throw new Unreachable(`${place}: ${sshProblem(answer.err, place)}`);
  return answer;
}

const placeOf = ({ host, user }: SshAddress): string => (user === undefined ? host : `${user}@${host}`);

/** What is wrong with a connection and what to do, from what ssh printed. */
export function sshProblem(printed: string, place: string): string {
  const said = printed.split("\n").at(-1)?.trim() ?? "";
  if (/REMOTE HOST IDENTIFICATION HAS CHANGED/.test(printed))
    return "its host key is not the one that is known: ask who runs it before you remove the old one (ssh-keygen -R)";
  if (/Host key verification failed/.test(printed))
    return `its host key is not known: connect once by hand (ssh ${place}) and compare the key's fingerprint`;
  if (/Permission denied/.test(printed))
    return `no key was accepted: ssh ${place} must work without a password (ssh-copy-id, or ssh-add)`;
  if (/Could not resolve hostname/.test(printed))
    return "there is no host with this name: check `host`, or add it to ~/.ssh/config";
  if (/Connection refused/.test(printed)) return "no ssh server answers there: check `host` and `port`";
  if (/timed out|No route to host|unreachable/.test(printed))
    return "it does not answer: check the network, or the VPN";
  return said === "" ? "the connection broke" : said;
}
