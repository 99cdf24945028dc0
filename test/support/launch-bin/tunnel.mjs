/** `ssh -L LOCAL:SOCKET`: forwards the local socket until the command ends. Its process id is in $FAKE_SSH/tunnel. */
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

const [forward = "", command = ""] = process.argv.slice(2);
const [local = "", socket = ""] = forward.split(":");
const server = createServer((client) => {
  const worker = connect(socket);
  client.pipe(worker).pipe(client);
  client.on("error", () => worker.destroy());
  worker.on("error", () => client.destroy());
});
// StreamLocalBindUnlink
rmSync(local, { force: true });
server.listen(local, () => {
  writeFileSync(join(process.env.FAKE_SSH ?? "", "tunnel"), String(process.pid));
  spawn("sh", ["-c", command], { stdio: "inherit" }).once("exit", (code) => process.exit(code ?? 255));
});
