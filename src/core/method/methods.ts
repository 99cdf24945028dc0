/**
 * The methods that are there by name, as data, each with its `label` for tables (the paper's, where it has a row), its
 * source and what is uncertain. docs/methods.md shows them.
 */
import { isOneOf } from "../one-of.ts";
import type { Control } from "../retrieval/types.ts";
import type { GraphEvidence, Method, Stage } from "./method.ts";

const VANILLA: Stage = { name: "vanilla", epochs: 1, evidence: { kind: "none" } };

/** K of the paper's main method: the sampled teacher executions of a task. */
export const PAPER_SOURCES = 16;

function evidenceOf(control: Control, augmentation = false): GraphEvidence {
  return { kind: "graph-conditioned", control, sourcesPerTask: PAPER_SOURCES, augmentation };
}

/** After the vanilla epoch, one with evidence from the K = 16 sampled records; planner and oracle records with GA only. */
function continued(name: string, control: Control, augmentation = false): Stage[] {
  return [VANILLA, { name, epochs: 1, evidence: evidenceOf(control, augmentation) }];
}

/** A baseline without evidence, over the paper's two epochs. */
const baseline = (stage: Omit<Stage, "epochs" | "evidence">): Stage[] => [
  { ...stage, epochs: 2, evidence: { kind: "none" } },
];

const PAPER = "the GC-OPD paper, Sections 3 and 4.3";
const TCOD = "TCOD's released code and settings (github.com/kokolerk/TCOD)";
const BASELINE_WEIGHTS =
  "tokens weigh 1/(N·L_e) as in the paper; the original takes the mean over the tokens of a batch whose rows are turns";

/**
 * The paper's two-epoch budget (Section 3.1, "Two-stage training overview"; appendix, "Training configuration"): the
 * controls continue from the same vanilla epoch as GC-OPD, over the same K = 16 sampled records. GC-OPD + GA adds what
 * graph augmentation brings in: executed plans and oracles (appendix, "Planner and oracle executions").
 *
 * The baselines have their originals' schedules, whose numbers count updates of the originals' runs; how the paper set
 * them over its 190 updates is not stated.
 */
export const METHODS = {
  opd: {
    id: "opd",
    label: "Vanilla OPD",
    description: "Vanilla on-policy distillation: the teacher scores the original context, two epochs.",
    stages: [{ ...VANILLA, epochs: 2 }],
    source: "the GC-OPD paper, Section 3.1",
  },
  "gc-opd": {
    id: "gc-opd",
    label: "GC-OPD",
    description:
      "One vanilla epoch, then one with student hindsight and records that the graph retrieves from the K = 16 " +
      "sampled ones.",
    stages: continued("graph-conditioned", "graph"),
    source: PAPER,
  },
  "gc-opd+ga": {
    id: "gc-opd+ga",
    label: "GC-OPD + GA",
    description: "GC-OPD with graph augmentation: planner and oracle records take part too.",
    stages: continued("graph-conditioned", "graph", true),
    source: PAPER,
  },
  "hindsight-only": {
    id: "hindsight-only",
    label: "Hindsight only",
    description: "One vanilla epoch, then one with student hindsight and no external record.",
    stages: continued("hindsight-only", "hindsight-only"),
    source: PAPER,
  },
  "success-only": {
    id: "success-only",
    label: "GC: success only",
    description: "One vanilla epoch, then one with student hindsight and successful records only.",
    stages: continued("success-only", "success-only"),
    source: PAPER,
  },
  "minimum-prefix": {
    id: "minimum-prefix",
    label: "Minimum prefix",
    description:
      "One vanilla epoch, then one with student hindsight and a fixed pair of records that share the fewest first " +
      "actions with the student.",
    stages: continued("minimum-prefix", "minimum-prefix"),
    source: PAPER,
  },
  "tcod-f2b": {
    id: "tcod-f2b",
    label: "TCOD-F2B",
    description:
      "Forward to backward: episodes are cut after one decision at first, one more every η updates, up to the horizon.",
    stages: baseline({
      name: "forward to backward",
      sampling: { kind: "depth", first: 1, every: { alfworld: 6, scienceworld: 6, webshop: 4 } },
    }),
    source: TCOD,
    uncertain: ["η under the paper's number of updates", BASELINE_WEIGHTS],
    original: "learning rate 1e-6, 16 tasks per step, 64 turns per batch, 250 updates (WebShop 150)",
  },
  "tcod-b2f": {
    id: "tcod-b2f",
    label: "TCOD-B2F",
    description:
      "Backward to forward: the student acts behind a replayed reference, all but its last action at first, one less " +
      "every η updates.",
    stages: baseline({
      name: "backward to forward",
      sampling: { kind: "prefix", every: { alfworld: 5, scienceworld: 5, webshop: 4 } },
    }),
    source: TCOD,
    uncertain: [
      "η under the paper's number of updates",
      "which of several references of a task is replayed: here the first of the library",
      BASELINE_WEIGHTS,
    ],
    original: "learning rate 1e-6, 16 tasks per step, 64 turns per batch, 250 updates (WebShop 150)",
  },
  ftb: {
    id: "ftb",
    label: "FTB",
    description:
      "FutureBridge: backward to forward, and a teacher's response at the student's worst turn joins the batch where " +
      "paired continuations say that it helps.",
    stages: baseline({
      name: "future bridge",
      sampling: { kind: "prefix", every: 5 },
      bridge: { turns: 3 },
    }),
    source: "FutureBridge's released code and settings (github.com/ChenChiShui/FutureBridge-OPD)",
    uncertain: [
      "schedule and weight of the bridge in the paper's reproduction: here it counts among the tokens of its episode",
      "a task without a reference begins at its start; the original's WebShop refuses it",
      BASELINE_WEIGHTS,
    ],
    original: "learning rate 1e-6, 16 tasks per step, 64 turns per batch, 200 updates",
  },
  turnopd: {
    id: "turnopd",
    label: "TurnOPD",
    description:
      "TurnOPD after accounts of its text: the depth of episodes follows probes, and turns come to weigh the same.",
    stages: baseline({
      name: "turn-aware",
      sampling: { kind: "adaptive-depth", probe: 8, coverage: 0.8, smoothing: 0.3, least: 1 },
      weights: { kind: "turn-balanced", balance: { from: 0, to: 1, over: { share: 1 } } },
    }),
    source:
      "TurnOPD (arXiv 2607.05804): its abstract, and equations as two accounts of the full text give them",
    uncertain: [
      "the full text was not read: the equations are second-hand",
      "the weight of the moving average (here 0.3) and the least depth (here 1)",
      "how a quantile between two depths is taken (here linear)",
      "whether turns are balanced over the batch (here) or inside an episode",
    ],
    original: "100 updates",
  },
  grpo: {
    id: "grpo",
    label: "GRPO",
    description:
      "Group-relative policy optimization as a student baseline: the task's outcome alone, no teacher.",
    stages: baseline({
      name: "group-relative",
      reward: { of: "success", group: 8, teacher: 0, factor: 1 },
    }),
    source: "DeepSeekMath (arXiv 2402.03300): the advantage; in the GC-OPD paper it trains teachers",
    uncertain: [
      "no row of the paper: group size and learning rate are ours to choose, and the rate needs a validation of its own",
    ],
  },
  "self-distillation": {
    id: "self-distillation",
    label: "Self-distillation",
    description:
      "The frozen teacher is the student itself as the run began, and reads the evidence of GC-OPD; no other model.",
    stages: [{ name: "self-distillation", epochs: 2, evidence: evidenceOf("graph") }],
    teacher: "student",
    source: "self-distillation with privileged information (arXiv 2602.04942), with this paper's evidence",
    uncertain: [
      "the original's privileged information, signal and schedule: only its idea is taken",
      "whether the teacher stays as the run began (here) or follows the student",
    ],
  },
  sod: {
    id: "sod",
    label: "SOD",
    description:
      "Step-wise distillation: the teacher's signal of a turn shrinks as its divergence grows, beside a group-relative " +
      "reward.",
    stages: baseline({
      name: "step-wise",
      weights: { kind: "step-divergence", epsilon: 1e-6, delta: 0.2 },
      reward: { of: "success", group: 16, teacher: 1, factor: 1 },
    }),
    source: "SOD's released code and settings (arXiv 2605.07725, github.com/YoungZ365/SOD)",
    uncertain: [
      "made for tool calls in reasoning: a decision stands for a step",
      "tokens weigh 1/(N·L_e) as in the paper; the original takes the mean over all tokens, and clips at 0.2 and 0.28",
    ],
    original: "learning rate 1e-6, 64 tasks per step in minibatches of 16, 16 rollouts of each",
  },
  atod: {
    id: "atod",
    label: "ATOD",
    description:
      "Annealed turn-aware distillation: turns weigh by disagreement and uncertainty, and the task's reward takes over.",
    stages: baseline({
      name: "annealed",
      weights: { kind: "turn-utility" },
      reward: {
        of: "success",
        group: 8,
        teacher: { from: 1, to: 0.1, over: { updates: 80 } },
        factor: { from: 1, to: 2, over: { updates: 80 } },
      },
    }),
    source: "ATOD (arXiv 2606.27814): equations as an account of the full text gives them",
    uncertain: [
      "neither the full text nor the code was read: the equations are second-hand",
      "how the schedule of 80 of 150 updates carries over to other budgets",
    ],
    original: "learning rate 1e-6, 8 rollouts of each task, 150 updates",
  },
} as const satisfies Record<string, Method & { label: string }>;

export type MethodId = keyof typeof METHODS;

export const METHOD_IDS = Object.keys(METHODS) as [MethodId, ...MethodId[]];

/** What tables call a method; one's own has no other name than its id. */
export const methodLabel = (id: string): string => (isOneOf(METHOD_IDS, id) ? METHODS[id].label : id);
