/** What was scored while the models of a shipped library stood: kept while those of another one stand. */
import type { Shipped } from "../../../url/library-link.ts";
import type { UiState } from "../../store.ts";

export interface ShippedScores {
  scores: UiState["scores"];
  /** What it was scored with beside the shipped models. */
  beside: readonly unknown[];
}

/** By the library whose models do not stand now. */
export const shippedScores = new Map<Shipped, ShippedScores>();
