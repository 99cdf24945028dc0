import { createHash } from "node:crypto";

/** SHA-256 of UTF-8 text as 64 hexadecimal digits, by Node's own implementation. */
export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
