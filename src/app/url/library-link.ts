/** What an address says of a library: enough to find it among the open ones, and to open it where a page can. */
import type { Place } from "./place.ts";

/**
 * One of `SHIPPED_LIBRARIES`; `own` with files of the worker's disk or addresses, which open by themselves; `own-` and a
 * digest of dropped or picked files, which must be given again.
 */
export type LibraryLink = Pick<Place, "library" | "disk" | "addresses">;

/** What lies beside the page: folders of these names, each with models of its own. */
export const SHIPPED = ["sample", "miniature"] as const;
export type Shipped = (typeof SHIPPED)[number];

export const SHIPPED_TITLES: Record<Shipped, string> = {
  sample: "the sample",
  miniature: "the miniature world",
};

/** The libraries in them. Those with a number differ in how many commands of the recorded executions were random, in %. */
export const SHIPPED_LIBRARIES = ["sample", "miniature", "miniature-30", "miniature-75"] as const;
export type ShippedLibrary = (typeof SHIPPED_LIBRARIES)[number];

export const shippedLink = (name: ShippedLibrary): LibraryLink => ({
  library: name,
  disk: [],
  addresses: [],
});

export const SAMPLE_LINK = shippedLink("sample");

/** The library that a link leads into; null for one of the user's own. */
export function shippedLibrary({ library }: Pick<LibraryLink, "library">): ShippedLibrary | null {
  return SHIPPED_LIBRARIES.find((name) => name === library) ?? null;
}

/** The folder that it is in, whose models belong to it. */
export function shippedName(link: Pick<LibraryLink, "library">): Shipped | null {
  const library = shippedLibrary(link);
  return SHIPPED.find((name) => name === library?.split("-")[0]) ?? null;
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
