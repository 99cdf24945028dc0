/**
 * Loopback is shared by all users of a machine. On Linux the kernel tells which user holds the other end of a
 * connection; the page is handed its token only when that is the worker's own user (or root, who can read it anyway).
 */
import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { endianness } from "node:os";
import { passingFault } from "../../node/file-error.ts";

/** An address as `/proc/net/tcp` and `tcp6` spell it: each 32-bit word in the machine's own byte order. */
export function procAddress(address: string, port: number): string {
  const bytes = isIPv6(address) ? ipv6Bytes(address) : address.split(".").map(Number);
  const words: string[] = [];
  for (let i = 0; i < bytes.length; i += 4) {
    const word = bytes.slice(i, i + 4);
    if (endianness() === "LE") word.reverse();
    words.push(...word.map((byte) => byte.toString(16).padStart(2, "0")));
  }
  return `${words.join("")}:${port.toString(16).padStart(4, "0")}`.toUpperCase();
}

function ipv6Bytes(address: string): number[] {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined)
    return [...new Array<number>(10).fill(0), 255, 255, ...mapped.split(".").map(Number)];
  const [head = "", tail] = address.split("::");
  const groups = (text: string) =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const middle = new Array<number>(8 - left.length - right.length).fill(0);
  return [...left, ...middle, ...right].flatMap((group) => [group >> 8, group & 255]);
}

/** The user id in the table's line whose local end is `client` and whose other end is `server`, if there is one. */
export function ownerInTable(table: string, client: string, server: string): number | null {
  for (const line of table.split("\n").slice(1)) {
    const fields = line.trim().split(/\s+/);
    if (fields[1] === client && fields[2] === server) return Number(fields[7]);
  }
  return null;
}

/** The part of a socket that is used here. */
export interface Connection {
  remoteAddress?: string;
  remotePort?: number;
  localAddress?: string;
  localPort?: number;
}

/** True where the system says that another user opened the connection, or cannot say it at this moment. */
export function isForeignUser(connection: Connection): boolean {
  const { remoteAddress, remotePort, localAddress, localPort } = connection;
  if (process.platform !== "linux" || process.getuid === undefined) return false;
  if (!remoteAddress || !remotePort || !localAddress || !localPort) return false;
  try {
    const table = readFileSync(isIPv6(remoteAddress) ? "/proc/net/tcp6" : "/proc/net/tcp", "utf8");
    const client = procAddress(remoteAddress, remotePort);
    const owner = ownerInTable(table, client, procAddress(localAddress, localPort));
    return owner !== null && owner !== 0 && owner !== process.getuid();
  } catch (error) {
    // The token is not given away on a guess.
    return passingFault(error) !== null;
  }
}
