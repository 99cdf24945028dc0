/** Names of saved files, made of names of records. */

/** Bytes of a name in UTF-8: file systems take 255 with an ending, and a few parts may be joined. */
const LONGEST = 100;

/** Names that Windows keeps for devices, whatever their ending. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/**
 * A name without what file systems do not take: letters and digits of every script, `.`, `-`, and `_` for anything
 * else; never empty, hidden or a folder, and no longer than 100 bytes.
 */
export function safeName(name: string): string {
  let safe = "";
  let bytes = 0;
  // No more than can be used is looked at: names have no greatest length.
  for (const character of name.slice(0, 4 * LONGEST).replace(/[^\p{L}\p{N}\p{M}.-]+/gu, "_")) {
    bytes += new TextEncoder().encode(character).length;
    if (bytes > LONGEST) break;
    safe += character;
  }
  return safe.replace(/^\.+|\.+$/g, "_").replace(DEVICE, "_$1") || "_";
}
