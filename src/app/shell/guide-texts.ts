import type { GuidePage } from "./guide-pages.ts";

/** The HTML of a page, fetched from our own server when it is opened first. Built from docs/ by scripts/guide-plugin.mjs. */
export const GUIDE_TEXTS: Record<GuidePage, () => Promise<{ default: string }>> = {
  inspecting: () => import("../../../docs/inspecting.md?guide"),
  comparing: () => import("../../../docs/comparing.md?guide"),
  updating: () => import("../../../docs/updating.md?guide"),
};
