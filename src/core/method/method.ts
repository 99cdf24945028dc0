/** A method is a schedule: stages of epochs, each with what its teacher is shown. Nothing else tells them apart. */
import type { Selection } from "../retrieval/selection.ts";
import type { Control } from "../retrieval/types.ts";

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

export interface Stage {
  /** Shown to users. */
  name: string;
  epochs: number;
  /** Number of its first epoch, from 0 where absent: those before it a parent run took. It decides the order of batches. */
  firstEpoch?: number;
  evidence: StageEvidence;
}

export interface Method {
  id: string;
  /** One sentence for a person. */
  description: string;
  stages: Stage[];
}

const VANILLA: Stage = { name: "vanilla", epochs: 1, evidence: { kind: "none" } };

/** K of the paper's main method: the sampled teacher executions of a task. */
export const PAPER_SOURCES = 16;

/** After the vanilla epoch, one with evidence from the K = 16 sampled records; planner and oracle records with GA only. */
function continued(name: string, control: Control, augmentation = false): Stage[] {
  const evidence: GraphEvidence = {
    kind: "graph-conditioned",
    control,
    sourcesPerTask: PAPER_SOURCES,
    augmentation,
  };
  return [VANILLA, { name, epochs: 1, evidence }];
}

/**
 * The paper's two-epoch budget (Section 3.1, "Two-stage training overview"; appendix, "Training configuration"): the
 * controls continue from the same vanilla epoch as GC-OPD, over the same K = 16 sampled records. GC-OPD+GA adds what
 * graph augmentation brings in: executed plans and oracles (appendix, "Planner and oracle executions").
 */
export const METHODS = {
  opd: {
    id: "opd",
    description: "Vanilla on-policy distillation: the teacher scores the original context, two epochs.",
    stages: [{ ...VANILLA, epochs: 2 }],
  },
  "gc-opd": {
    id: "gc-opd",
    description:
      "One vanilla epoch, then one with student hindsight and records that the graph retrieves from the K = 16 " +
      "sampled ones.",
    stages: continued("graph-conditioned", "graph"),
  },
  "gc-opd+ga": {
    id: "gc-opd+ga",
    description: "GC-OPD with graph augmentation: planner and oracle records take part too.",
    stages: continued("graph-conditioned", "graph", true),
  },
  "hindsight-only": {
    id: "hindsight-only",
    description: "One vanilla epoch, then one with student hindsight and no external record.",
    stages: continued("hindsight-only", "hindsight-only"),
  },
  "success-only": {
    id: "success-only",
    description: "One vanilla epoch, then one with student hindsight and successful records only.",
    stages: continued("success-only", "success-only"),
  },
  "minimum-prefix": {
    id: "minimum-prefix",
    description:
      "One vanilla epoch, then one with student hindsight and a fixed pair of records that share the fewest first " +
      "actions with the student.",
    stages: continued("minimum-prefix", "minimum-prefix"),
  },
} as const satisfies Record<string, Method>;

export type MethodId = keyof typeof METHODS;

export const METHOD_IDS = Object.keys(METHODS) as [MethodId, ...MethodId[]];

/** The stages that a run takes. One of 0 epochs keeps its number, which decides the order of the stages after it. */
export function stagesTaken({ stages }: { stages: readonly Stage[] }): Stage[] {
  return stages.filter(({ epochs }) => epochs > 0);
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
