/** What the worker and its page tell each other about ScienceWorld's sessions; `docs/worker.md` has the routes. */
import { z } from "zod";
import { stateSchema, statusSchema } from "../core/record/schema.ts";

const strings = z.array(z.string()).readonly();

/** As `Offered`. */
const offered = z.union([
  z.object({ commands: strings }),
  z.object({ searchBar: z.boolean(), clickables: strings }),
  z.object({ templates: strings, objects: strings }),
]);

/** As `EnvironmentTurn`. */
const turn = z.object({
  observation: z.string(),
  feedback: z.string(),
  offered: offered.nullable(),
  state: stateSchema.nullable(),
  score: z.number().nullable(),
  done: z.boolean(),
  success: z.boolean(),
});

export const resetRequest = z.strictObject({ task: z.string() });
export const stepRequest = z.strictObject({ action: z.string() });

export const startAnswer = z.object({ ...turn.shape, description: z.string() });
/** An answer, or why there is none: the episode has ended for a technical reason. */
export const stepAnswer = z.union([
  z.object({ ...turn.shape, status: statusSchema }),
  z.object({ unanswered: z.string() }),
]);
export const planAnswer = z.object({ actions: strings });

export const scienceWorldInfo = z.object({
  /** Of the simulator, as the worker was told. */
  file: z.string(),
  version: z.string(),
  /** Of the JAR. */
  sha256: z.string(),
  /** Sessions that may be open at once, and those that are. */
  most: z.int().min(1),
  open: z.int().min(0),
  tasks: z.array(z.object({ name: z.string(), variations: z.int().min(0) })).readonly(),
});
export type ScienceWorldInfo = z.infer<typeof scienceWorldInfo>;

/** Null where the worker was started without a simulator. */
export const simulatorAnswer = z.object({ scienceworld: scienceWorldInfo.nullable() });

/** Milliseconds after which a session ends that nobody has asked for anything, nor renewed. */
export const LEASE_MS = 60_000;
