/** What was scored with the models of a shipped library, kept while those of another one are open. */
import type { Shipped } from "../../../url/library-link.ts";
import type { UiState } from "../../store.ts";

export interface ShippedScores {
  scores: UiState["scores"];
  /** What it was scored with beside the shipped models. */
  beside: readonly unknown[];
}

/** By the library whose models are not open now. */
export const shippedScores = new Map<Shipped, ShippedScores>();
