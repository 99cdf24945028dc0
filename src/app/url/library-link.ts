/** What an address says of a library: enough to find it among the open ones, and to open it where a page can. */
import type { Place } from "./place.ts";

/**
 * `sample` or `miniature`; `own` with files of the worker's disk or addresses, which open by themselves; `own-` and a digest of dropped
 * or picked files, which must be given again.
 */
export type LibraryLink = Pick<Place, "library" | "disk" | "addresses">;

/** The libraries that lie beside the page, each with models of its own: folders of these names. */
export const SHIPPED = ["sample", "miniature"] as const;
export type Shipped = (typeof SHIPPED)[number];

export const shippedLink = (name: Shipped): LibraryLink => ({ library: name, disk: [], addresses: [] });

export const SAMPLE_LINK = shippedLink("sample");

/** The one that a link leads into; null for a library of the user's own. */
export function shippedName({ library }: Pick<LibraryLink, "library">): Shipped | null {
  return SHIPPED.find((name) => name === library) ?? null;
}

/** The part of a place that says which library its names belong to. */
export function linkOf({ library, disk, addresses }: LibraryLink): LibraryLink {
  return { library, disk, addresses };
}

/** One name for a link: equal for links to the same library. */
export function linkKey({ library, disk, addresses }: LibraryLink): string {
  // Files and addresses say all; older links to them do not say `own`.
  return JSON.stringify([disk.length + addresses.length > 0 ? "own" : library, disk, addresses]);
}

/** Whether a page can open it without being given files. */
export function opensByItself({ library, disk, addresses }: LibraryLink): boolean {
  return shippedName({ library }) !== null || disk.length + addresses.length > 0;
}
