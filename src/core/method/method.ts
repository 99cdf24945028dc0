/**
 * A method is a schedule of stages: each says how the student samples, what the teacher reads, how tokens weigh, what
 * joins the batch, and what the task's reward adds. Methods differ in nothing else.
 */
import type { Selection } from "../retrieval/selection.ts";
import type { Control } from "../retrieval/types.ts";
import { isEverPositive, type PerEnvironment, type Ramp } from "./ramp.ts";
import type { Signal } from "./signal.ts";

/** What the teacher reads beside the student's own context h_t. */
export type StageEvidence =
  /** Vanilla OPD: R = ∅, Eq. (1). */
  | { kind: "none" }
  /** R_t of Section 3.3: student hindsight and what the selection retains of the retrieved records, Eq. (8). */
  | GraphEvidence;

/** Graph-conditioned evidence, with the options of the ablations. */
export interface GraphEvidence extends Selection {
  kind: "graph-conditioned";
  control: Control;
}

/** How far and behind what the student plays, in place of whole episodes from the start. */
export type StageSampling =
  /** TCOD-F2B: cut after k(s) = min(first + ⌊s/every⌋, H) decisions. */
  | { kind: "depth"; first: number; every: PerEnvironment }
  /** TCOD-B2F: behind the first c(s) = max(0, M − 1 − ⌊s/every⌋) actions of a successful reference of M. */
  | { kind: "prefix"; every: PerEnvironment }
  | AdaptiveDepth;

/** TurnOPD's depth controller. */
export interface AdaptiveDepth {
  kind: "adaptive-depth";
  /** Every so many batches, the first one included, one is played to the horizon, and the depth is set from it. */
  probe: number;
  /** Quantile of the depth of successful episodes that the depth covers. */
  coverage: number;
  /** Weight of the newest probe in the moving average. */
  smoothing: number;
  /** Fewest decisions. */
  least: number;
}

/** How tokens weigh, in place of 1/(N·L_e). */
export type StageWeights =
  /** TurnOPD: (1 − l)/n + l/(T·n_t), from token mean (l = 0) to equal turns (l = 1) of the batch. */
  | { kind: "turn-balanced"; balance: Ramp }
  /** SOD: the teacher's signal of a turn times how much its divergence shrank since the first turn, at most 1 + delta. */
  | { kind: "step-divergence"; epsilon: number; delta: number }
  /** ATOD's T-DUR: the teacher's signal of a turn times the soft-or of its disagreement and its uncertainty. */
  | { kind: "turn-utility" };

/** What the task's reward adds: A = teacher·A^R + factor·(r − mean)/(std + 10⁻⁶), over G rollouts of a task (GRPO). */
export interface StageReward {
  /** The episode's outcome: 1 or 0, or its score. */
  of: "success" | "score";
  /** G. A batch has 1/G as many tasks, and as many episodes as without. */
  group: number;
  /** Factor of the teacher's signal; where it is never above 0, no teacher is asked. */
  teacher: Ramp;
  /** Factor of the reward. */
  factor: Ramp;
}

/** FutureBridge: a response of the teacher's at the student's worst turn joins the batch where it helps what follows. */
export interface StageBridge {
  /** Student turns that each branch is continued by. */
  turns: number;
}

export interface Stage {
  /** Shown to users. */
  name: string;
  epochs: number;
  /** Number of its first epoch, from 0 where absent: those before it a parent run took. It decides the order of batches. */
  firstEpoch?: number;
  evidence: StageEvidence;
  /** Whole episodes from the task's start when absent. */
  sampling?: StageSampling;
  /** Each token's is 1/(N·L_e) when absent. */
  weights?: StageWeights;
  /** Nothing joins the batch when absent. */
  bridge?: StageBridge;
  /** The teacher's signal alone when absent. */
  reward?: StageReward;
  /** What is compared at each response token; the sampled token alone (Eq. 9) where absent. */
  signal?: Signal;
}

export interface Method {
  id: string;
  /** One sentence for a person. */
  description: string;
  stages: Stage[];
  /** The frozen teacher is the student itself, as the run began. The run names a teacher when absent. */
  teacher?: "student";
  /** Where its stages are from. */
  source?: string;
  /** What no source says about it, and what was chosen instead. */
  uncertain?: readonly string[];
  /** Training settings of the original, which a run has only where its config says so. */
  original?: string;
}

/** The stages that a run takes. One of 0 epochs keeps its number, which decides the order of the stages after it. */
export function stagesTaken({ stages }: { stages: readonly Stage[] }): Stage[] {
  return stages.filter(({ epochs }) => epochs > 0);
}

/** Whether a stage asks the teacher for log-probabilities. */
export const asksTeacher = ({ reward }: Stage): boolean =>
  reward === undefined || isEverPositive(reward.teacher);

/**
 * Whose log-probabilities a run of the method asks for: no teacher's, those of the student as the run begins, or those of
 * a model that the run names.
 */
export function teacherOf(method: Pick<Method, "stages" | "teacher">): "none" | "student" | "named" {
  if (!stagesTaken(method).some(asksTeacher)) return "none";
  return method.teacher ?? "named";
}

/** What a stage needs that only a live environment gives, in words; null where recorded episodes do. */
export function needsLive({ sampling, bridge, reward }: Stage): string | null {
  if (sampling?.kind === "prefix") return "plays behind replayed actions";
  if (sampling !== undefined) return "cuts episodes at a depth";
  if (bridge !== undefined) return "continues episodes from the middle";
  return reward === undefined ? null : "plays each task several times";
}

/** What the method's last stage retrieves and retains; null where no stage retrieves (OPD). */
export function methodSelection(method: Method): Selection | null {
  const evidence = method.stages.at(-1)?.evidence;
  return evidence === undefined || evidence.kind === "none" ? null : evidence;
}

/**
 * The same method with other options in its graph-conditioned stages: for ablations of a schedule. Options that are
 * absent stay as they are.
 */
export function withSelection(method: Method, selection: Selection): Method {
  const given = Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined));
  return {
    ...method,
    stages: method.stages.map((stage) =>
      stage.evidence.kind === "none" ? stage : { ...stage, evidence: { ...stage.evidence, ...given } },
    ),
  };
}
