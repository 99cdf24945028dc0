import { createHash } from "node:crypto";

/** SHA-256 of UTF-8 text as 64 hexadecimal digits, by Node's own implementation. */
export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** SHA-256 of parts one behind the other as 64 hexadecimal digits, by Node's own implementation. */
export function sha256OfParts(...parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
