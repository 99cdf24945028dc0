/** A shell over ssh, with the user's own configuration, keys and agent: it asks nothing and keeps no secret. */
import { collect, quoted, type Shell, Unreachable } from "./shell.ts";

export interface SshPlace {
  /** Host, or its name in the ssh configuration. */
  host: string;
  user?: string | undefined;
  port?: number | undefined;
  /** In place of the user's own configuration file. */
  ssh_config?: string | undefined;
}

export function sshShell({ host, user, port, ssh_config: config }: SshPlace): Shell {
  const place = user === undefined ? host : `${user}@${host}`;
  const options = [
    // No question that nobody would answer, and an end for a connection that died.
    ...["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"],
    ...["-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"],
    ...(config === undefined ? [] : ["-F", config]),
    ...(port === undefined ? [] : ["-p", String(port)]),
  ];
  return {
    place,
    async exec(args, streams) {
      const answer = await collect("ssh", [...options, "--", place, args.map(quoted).join(" ")], streams);
      // ssh's own code: the connection could not be made, or broke.
      if (answer.code === 255) throw new Unreachable(`${place}: ${sshProblem(answer.err, place)}`);
      return answer;
    },
  };
}

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
    return "there is no host of this name: check `host`, or add it to ~/.ssh/config";
  if (/Connection refused/.test(printed)) return "no ssh server answers there: check `host` and `port`";
  if (/timed out|No route to host|unreachable/.test(printed))
    return "it does not answer: check the network, or the VPN";
  return said === "" ? "the connection broke" : said;
}
