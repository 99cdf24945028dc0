import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { endianness } from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { isForeignUser, ownerInTable, procAddress } from "./peer.ts";

/** Code of a fault that reading meets. */
const fault = vi.hoisted(() => ({ code: "" }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const readFileSync = (...args: Parameters<typeof fs.readFileSync>) => {
    if (fault.code === "") return fs.readFileSync(...args);
    throw Object.assign(new Error(), { code: fault.code, syscall: "open" });
  };
  return { ...fs, readFileSync };
});
afterEach(() => {
  fault.code = "";
});

it.runIf(process.platform === "linux")(
  "takes a connection for another user's while the system cannot say",
  () => {
    const socket = { remoteAddress: "127.0.0.1", remotePort: 1, localAddress: "127.0.0.1", localPort: 2 };
    const foreignAfter = (code: string) => {
      fault.code = code;
      return isForeignUser(socket);
    };
    expect(["EMFILE", "ENOENT"].map(foreignAfter)).toEqual([true, false]);
  },
);

it.runIf(endianness() === "LE")("spells addresses as the kernel's tables do", () => {
  expect(procAddress("127.0.0.1", 8791)).toBe("0100007F:2257");
  expect(procAddress("10.1.2.3", 80)).toBe("0302010A:0050");
  expect(procAddress("::1", 8791)).toBe("00000000000000000000000001000000:2257");
  expect(procAddress("::ffff:127.0.0.1", 1)).toBe("0000000000000000FFFF00000100007F:0001");
});

it("finds who holds the other end of a connection", () => {
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0100007F:2257 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 1 1",
    "   1: 0100007F:D431 0100007F:2257 01 00000000:00000000 00:00000000 00000000  1001        0 2 1",
  ].join("\n");
  expect(ownerInTable(table, "0100007F:D431", "0100007F:2257")).toBe(1001);
  expect(ownerInTable(table, "0100007F:D432", "0100007F:2257")).toBeNull();
});

it("takes a connection of one's own for what it is", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const client = connect((server.address() as { port: number }).port, "127.0.0.1");
  const socket = await accepted;
  expect(isForeignUser(socket)).toBe(false);
  if (process.platform === "linux") {
    const ends = [
      procAddress("127.0.0.1", socket.remotePort!),
      procAddress("127.0.0.1", socket.localPort!),
    ] as const;
    const owner = ownerInTable(readFileSync("/proc/net/tcp", "utf8"), ...ends);
    expect([process.getuid?.(), null]).toContain(owner);
  }
  client.destroy();
  socket.destroy();
  server.close();
});
