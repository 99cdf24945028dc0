import type { HtmlNode } from "../../../scripts/html-nodes.mjs";
import type { GuidePage } from "./guide-pages.ts";

/** The elements of a page, fetched from our own server when it is opened first. Built from docs/ by scripts/guide-plugin.mjs. */
export const GUIDE_TEXTS: Record<GuidePage, () => Promise<{ default: readonly HtmlNode[] }>> = {
  inspecting: () => import("../../../docs/inspecting.md?guide"),
  comparing: () => import("../../../docs/comparing.md?guide"),
  updating: () => import("../../../docs/updating.md?guide"),
};
