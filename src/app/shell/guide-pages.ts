/** The guide: one page for each of the three jobs, the same text as in docs/. */
export const GUIDE_PAGES = ["inspecting", "comparing", "updating"] as const;
export type GuidePage = (typeof GUIDE_PAGES)[number];

export const GUIDE_TITLES: Record<GuidePage, string> = {
  inspecting: "Inspect retrieval",
  comparing: "Compare token probabilities",
  updating: "Update a student",
};
