/** A real sshd on a loopback port, with keys, configuration and known hosts of its own, in a folder. */
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../src/core/errors.ts";
import type { SshAddress } from "../../src/worker/launch/ssh.ts";

export interface Sshd {
  place: SshAddress;
  /** The same server, of which no host key is known. */
  stranger: SshAddress;
  close(): void;
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/**
 * @param environment set for the commands that run over it
 * @param more lines for its configuration
 * @throws InputError where there is no sshd
 */
export async function startSshd(
  folder: string,
  environment: Record<string, string> = {},
  more = "",
): Promise<Sshd> {
  const at = (name: string) => join(folder, name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // sshd of Debian asks for it when root starts it.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
  for (const key of ["host", "id"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
  copyFileSync(at("id.pub"), at("authorized_keys"));
  const port = await freePort();
  writeFileSync(
    at("sshd_config"),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${at("host")}
PidFile none
AuthorizedKeysFile ${at("authorized_keys")}
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
${more}
${Object.entries(environment)
  .map(([name, value]) => `SetEnv ${name}=${value}\n`)
  .join("")}`,
  );
  writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${readFileSync(at("host.pub"), "utf8")}`);
  const host = (name: string, known: string) => `Host ${name}
  HostName 127.0.0.1
  Port ${port}
  User ${userInfo().username}
  IdentityFile ${at("id")}
  IdentitiesOnly yes
  UserKnownHostsFile ${known}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`;
  writeFileSync(at("ssh_config"), `${host("box", at("known_hosts"))}${host("stranger", "/dev/null")}`);
  const sshd = ["/usr/sbin/sshd", "/usr/bin/sshd"].find((path) => {
    try {
      return readFileSync(path).length > 0;
    } catch {
      return false;
    }
  });
  if (sshd === undefined)
    throw new InputError("there is no sshd: install openssh-server (apt-get install openssh-server)");
  const child = spawn(sshd, ["-D", "-e", "-f", at("sshd_config")], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  while (!said.includes("Server listening")) {
    if (child.exitCode !== null) throw new InputError(`sshd did not start: ${said.trim()}`);
    await sleep(20);
  }
  const place = { ssh_config: at("ssh_config") };
  return {
    place: { ...place, host: "box" },
    stranger: { ...place, host: "stranger" },
    close: () => child.kill(),
  };
}
