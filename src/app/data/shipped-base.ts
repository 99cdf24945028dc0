import type { Shipped } from "../url/library-link.ts";

/** Where a shipped library lies: beside the page, whatever the folder it is served from. Ends with a slash. */
export const shippedBase = (name: Shipped): string => new URL(`${name}/`, document.baseURI).href;
