/** Addresses that a page may fetch. */
import { InputError } from "../../core/errors.ts";

/** `InputError` unless this is an address that a page may fetch. */
export function checkAddress(text: string): string {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw new InputError("not a web address; expected https://…", { file: text.trim() || "address" });
  }
  const local = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (local || sameOrigin(url)))) {
    throw new InputError("expected an https:// address, or http:// on this machine", { file: url.href });
  }
  if (url.username !== "" || url.password !== "") {
    throw new InputError("an address with a password in it cannot be fetched by a page", { file: url.host });
  }
  return url.href;
}

/** Whether an address is of the server that the page came from. */
export function sameOrigin(url: URL): boolean {
  return typeof location !== "undefined" && url.origin === location.origin;
}
