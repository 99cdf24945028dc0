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

/** How many decisions are scored; null: all that there are. */
export const GATE_LIMITS = [50, 200, 1000, null] as const;
export type GateLimit = (typeof GATE_LIMITS)[number];

/** A decision without figures, and why. */
export interface LeftOut {
  episode: string;
  decision: number;
  reason: string;
}

/** The results of one setting: what it was computed with, and as far as it got. */
export interface Gate {
  /** `LibrarySummary.id`. */
  library: string;
  selection: SourceSelection;
  contexts: readonly GateContext[];
  seed: number;
  teacher: EngineInfo;
  /** File of the optimal actions. */
  optimal: string;
  /** Decisions that have optimal actions. */
  known: number;
  /** Decisions that were looked at: of these, `leftOut` could not be scored. */
  looked: number;
  decisions: readonly GateDecision[];
  leftOut: readonly LeftOut[];
  summary: GateSummary;
}

interface GateState {
  limit: GateLimit;
  seed: number;
  contexts: readonly GateContext[];
  /** Asked for by a press, and begun as soon as everything is there. */
  wanted: boolean;
  gate: Gate | null;
}

export const useGate = create<GateState>(() => ({
  limit: 200,
  seed: 0,
  contexts: GATE_CONTEXTS,
  wanted: false,
  gate: null,
}));
