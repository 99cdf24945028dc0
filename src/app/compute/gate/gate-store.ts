/** The evidence test: what is asked for, and what was scored so far. */
import { create } from "zustand";
import {
  GATE_CONTEXTS,
  type GateContext,
  type GateDecision,
  type GateSummary,
} from "../../../core/gate/index.ts";
import type { EngineInfo } from "../../../core/ports.ts";
import type { SourceSelection } from "../../../core/retrieval/selection.ts";
import type { LibrarySubset } from "../../../core/retrieval/subset.ts";
import type { WeightChoice } from "../../../tensor/index.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { KnownOptimal } from "../../data/model.ts";
import type { Shipped } from "../../url/library-link.ts";

/** Seed of the drawn decisions and of the bootstrap; the default of `gcopd gate`. */
export const GATE_SEED = 0;

/** How many decisions are scored; null: all that there are. */
export const GATE_LIMITS = [50, 200, 1000, null] as const;
export type GateLimit = (typeof GATE_LIMITS)[number];

/** The parts of the library on offer: see `LibrarySubset`. */
export const SUBSET_SHARES = [0, 0.25, 0.5, 0.75, 1] as const;

/** A kind of record that a share is drawn from. */
export type SubsetShare = Exclude<keyof LibrarySubset, "seed">;

/** A decision without figures, and why. */
export interface LeftOut {
  episode: string;
  decision: number;
  reason: string;
}

/** What figures are computed with: those of another setting are not shown for it. */
export interface GateSetting {
  /** `LibrarySummary.id`. */
  library: string;
  known: KnownOptimal;
  selection: SourceSelection;
  contexts: readonly GateContext[];
  /** The teacher's folder, or the shipped library that it is of. */
  teacherFrom: FolderFiles | Shipped;
  /** How its matrices are kept. */
  weights: WeightChoice;
}

/** The results of one setting, as far as they got. */
export interface Gate extends GateSetting {
  teacher: EngineInfo;
  decisions: readonly GateDecision[];
  leftOut: readonly LeftOut[];
  summary: GateSummary;
}

interface GateState {
  limit: GateLimit;
  contexts: readonly GateContext[];
  /** Asked for by a press, and begun as soon as everything is there. */
  wanted: boolean;
  gate: Gate | null;
}

export const useGate = create<GateState>(() => ({
  limit: 200,
  contexts: GATE_CONTEXTS,
  wanted: false,
  gate: null,
}));
