import { InputError } from "../../core/errors.ts";
import type { FolderReader } from "../../core/ports.ts";
import {
  type Backend,
  combinePlans,
  fittingPack,
  keptTokens,
  type MemoryPlan,
  type PlannedWorkload,
  partBytes,
  passTokens,
  planMemory,
  prefixBytesPerToken,
  readModelHeader,
  type WeightChoice,
} from "../../tensor/index.ts";

/** Bytes of keys, values and states that a scorer keeps for each token of a full pack. */
export const PREFIX_BYTES = 2 ** 17;

/** What a job's memory depends on beside the model and the device. */
export type WorkloadSizes = Pick<
  PlannedWorkload,
  "kind" | "weights" | "longestSequence" | "recompute" | "optimizer" | "compared"
> & {
  /** Tokens of the longest response. */
  longestResponse: number;
  /** Tokens of all sequences, where they are known: no pass is longer. */
  allTokens?: number;
  /** Bytes that the job may take; WebGPU does not tell what a device has. */
  limit?: number;
};

/** What a plan needs to know of a device; a backend is one. */
export type PlannedDevice = Pick<Backend, "compute" | "packTokens"> & {
  readonly software?: boolean;
  readonly largestBuffer?: number;
};

/** What a job will take, and how its passes are cut so that it does. */
export interface PlannedPasses {
  plan: MemoryPlan;
  /** Tokens of the longest pass. */
  packTokens: number;
  /** Training keeps only the inputs of the layers; by the size of a pass when undefined. */
  recompute?: boolean;
  /** Bytes of kept prefixes, from call to call, that scoring may take; as many as the scorer likes when undefined. */
  prefixBytes?: number;
}

/**
 * The memory of a job with a model folder (only its headers are read), and the longest pass that fits it. The
 * plan may exceed the limit all the same: `checkPlan` refuses it.
 */
export async function planWorkload(
  device: PlannedDevice,
  folder: FolderReader,
  sizes: WorkloadSizes,
): Promise<PlannedPasses> {
  const { config, stored } = await readModelHeader(folder);
  const { longestSequence, longestResponse, limit } = sizes;
  if (limit !== undefined && !(limit > 0)) throw new InputError("the memory limit must be above 0");
  const kept = keptTokens(config, device);
  const rowsOf = (tokens: number) =>
    Math.ceil(tokens / Math.max(1, longestSequence)) * Math.max(1, longestResponse);
  const passes = (recompute: boolean | undefined): PlannedPasses => {
    const withRows = (tokens: number): PlannedWorkload => ({
      ...sizes,
      stored,
      recompute: recompute ?? tokens > kept,
      packTokens: tokens,
      responseRows: rowsOf(tokens),
      compute: device.compute,
      software: device.software,
    });
    const most = passTokens(device, config);
    const packTokens =
      limit === undefined ? Math.max(most, longestSequence) : fittingPack(config, withRows, limit, most);
    const longest = Math.min(packTokens, sizes.allTokens ?? packTokens);
    const planned = withRows(longest);
    const bare = planMemory(config, planned);
    if (sizes.kind === "train") {
      // Unless told, shorter passes keep their activations, and may take more than the longest.
      const shorter = planMemory(config, withRows(Math.min(longest, kept)));
      const plan = recompute === undefined && shorter.total > bare.total ? shorter : bare;
      return { plan, packTokens, recompute, prefixBytes: limit === undefined ? undefined : 0 };
    }
    // Kept prefixes take what is left: they save time, and only last digits depend on them.
    const room = limit === undefined ? Number.POSITIVE_INFINITY : Math.max(0, limit - bare.total);
    const wanted = device.packTokens * PREFIX_BYTES;
    const prefixBytes = Math.min(room, wanted);
    const held = Math.min(
      prefixBytes,
      prefixBytesPerToken(config) * (sizes.allTokens ?? Number.POSITIVE_INFINITY),
    );
    return { plan: planMemory(config, { ...planned, prefixBytes: held }), packTokens, prefixBytes };
  };
  const first = passes(sizes.recompute);
  const choice = sizes.kind === "train" && sizes.recompute === undefined;
  return choice && limit !== undefined && first.plan.total > limit ? passes(true) : first;
}

/** Lengths of what a model reads in a training run, and of the part that is compared. */
export type RunLengths = Pick<
  WorkloadSizes,
  "longestSequence" | "longestResponse" | "allTokens" | "compared"
>;

/**
 * Teacher and student on one device, in turns; the student takes steps, or only scores, with its optimizer beside it unless
 * `moments` is false. A limit shortens the passes of both, and lets the student compute activations again; the plan may exceed it all the same.
 */
export async function planTraining(
  device: PlannedDevice,
  models: {
    /** Null for one that another engine computes, which is not counted. */
    teacher: ({ folder: FolderReader; weights: WeightChoice } & RunLengths) | null;
    student: { folder: FolderReader; kind?: "train" | "score"; moments?: boolean } & RunLengths;
    limit?: number;
  },
): Promise<{ plan: MemoryPlan; teacher: PlannedPasses | null; student: PlannedPasses }> {
  const { limit, teacher: given } = models;
  const { folder, kind = "train", moments = true, ...lengths } = models.student;
  const optimizer = kind === "train" || moments;
  if (limit !== undefined && !(limit > 0)) throw new InputError("the memory limit must be above 0");
  const planTeacher = async (most?: number) => {
    if (given === null) return null;
    const { folder: teacherFolder, ...sizes } = given;
    return planWorkload(device, teacherFolder, { ...sizes, kind: "score", limit: most });
  };
  const planStudent = (most?: number) =>
    planWorkload(device, folder, { ...lengths, kind, optimizer, weights: "f32", limit: most });
  let [teacher, student] = await Promise.all([planTeacher(), planStudent()]);
  if (limit !== undefined) {
    // What the other one keeps is not there to be used; at least a byte, so that the plan tells what is lacking.
    const left = (other: PlannedPasses | null) => Math.max(1, limit - (other === null ? 0 : staying(other)));
    student = await planStudent(left(teacher));
    // Kept keys and values of the student come after what the teacher must have.
    teacher = await planTeacher(left(student));
  }
  const plans = { ...(teacher && { teacher: teacher.plan }), student: student.plan };
  return { plan: combinePlans(plans), teacher, student };
}

/** Bytes that stay when no pass is under way, without what is kept only to save time. */
function staying({ plan }: PlannedPasses): number {
  const kept = plan.items.find(({ name }) => name === "kept prefixes")?.bytes ?? 0;
  return plan.total - partBytes(plan, "activations") - kept;
}
