/** Evidence that was edited by hand, as a part of an address: deflated, in URL-safe base64, up to a stated length. */
import { deflateSync, inflateSync } from "fflate";
import { withHalves, withoutHalves } from "./halves.ts";

/** Most characters that an edited evidence takes in an address; mail programs and chats cut much longer ones. */
export const MOST_LINK_TEXT = 16_000;

/** Stands in the address for a text that is too long for it. */
export const TEXT_LEFT_OUT = "*";

const CHUNK = 1 << 15;

function base64url(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The last text that was packed: an address is written many times for one text. */
let last: { text: string; packed: string | null } | null = null;

/** The text as a part of an address; null where it is longer than `MOST_LINK_TEXT`. */
export function packText(text: string): string | null {
  if (last?.text !== text) last = { text, packed: packed(text) };
  return last.packed;
}

function packed(text: string): string | null {
  const address = base64url(deflateSync(new TextEncoder().encode(withoutHalves(text)), { level: 9 }));
  return address.length <= MOST_LINK_TEXT ? address : null;
}

/** Reads what `packText` writes; null for anything else. */
export function unpackText(packed: string): string | null {
  if (packed.length > MOST_LINK_TEXT || !/^[\w-]+$/.test(packed)) return null;
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = inflateSync(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
    return withHalves(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
}
