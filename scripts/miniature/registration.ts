/** What is registered of the miniature's experiment, and the configs that follow from it. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { checkOf, InputError } from "../../src/core/errors.ts";
import { type MethodEntry, methodEntrySchema } from "../../src/core/loop/experiment-config.ts";
import { checkSchema, parseObject } from "../../src/formats/read.ts";
import { HORIZON, RESPONSE_TOKENS } from "./task.ts";

const count = z.int().min(1);
const settingsSchema = methodEntrySchema.shape.settings.unwrap();
const seeds = z.array(z.int().min(0)).min(1);
/** Layouts by their seeds: `count` of them from `first` on. */
const layouts = z.strictObject({ first: z.int().min(0), count });
const measured = layouts.extend({ seeds });
const pairs = z.array(z.tuple([z.string(), z.string()]));

const registrationSchema = z.strictObject({
  registered: z.iso.date().optional(),
  /** Seeds of worlds whose habits no model has seen. */
  worlds: seeds,
  validation_world: z.int().min(0),
  tasks: layouts,
  unseen: measured,
  seen: measured,
  /** Evaluations during the trainings, for curves. */
  curve: measured.extend({ every: count }).optional(),
  library: z.strictObject({ repetitions: count, noise: z.number().min(0).max(1) }),
  batch_size: count,
  seeds,
  methods: z.array(methodEntrySchema).min(1),
  /** Settings, chosen on the validation world: those of `all` hold for every method without its own. */
  choice: z
    .array(
      z.strictObject({
        for: z.string(),
        by: z.array(z.string()).min(1),
        seeds,
        candidates: z.array(settingsSchema).min(1),
      }),
    )
    .min(1),
  /** Differences of the first less the second. Holm is over the pairs of a list. */
  primary: pairs.min(1),
  secondary: pairs,
});

export type Registration = z.infer<typeof registrationSchema>;

/** @throws InputError that names file and key */
export function readRegistration(file: string): Registration {
  const registration = checkSchema(registrationSchema, parseObject(readFileSync(file, "utf8"), { file }), {
    file,
  });
  checkOf(file, () => {
    const known = new Set(registration.methods.map(({ id }) => id));
    const named = {
      primary: registration.primary.flat(),
      secondary: registration.secondary.flat(),
      choice: registration.choice.flatMap((each) => [...each.by, ...(each.for === "all" ? [] : [each.for])]),
    };
    for (const [key, ids] of Object.entries(named)) {
      const unknown = ids.find((id) => !known.has(id));
      if (unknown !== undefined)
        throw new InputError(`${JSON.stringify(unknown)} is none of the methods`, { key });
    }
    if (!registration.choice.some((each) => each.for === "all"))
      throw new InputError('expected one for "all"', { key: "choice" });
    if (registration.worlds.includes(registration.validation_world))
      throw new InputError("expected a world that is none of `worlds`", { key: "validation_world" });
  });
  return registration;
}

export type Settings = z.infer<typeof settingsSchema>;

/** Settings by method; those of `all` hold for the others. */
export type Chosen = Readonly<Record<string, Settings>>;

export const UNSEEN = "unseen";

/** The folder of a world in the experiment's. */
export const worldFolder = (world: number): string => `world-${world}`;

/** The experiment of one world, with paths from its folder. */
export function worldConfig(registration: Registration, world: number, chosen: Chosen): object {
  const { methods, seeds: all } = registration;
  return experiment(registration, world, {
    methods: methods.map((entry) => withSettings(entry, chosen[entry.id] ?? chosen.all!)),
    seeds: all,
    evaluations: {
      [UNSEEN]: evaluation(registration, world, "unseen"),
      seen: evaluation(registration, world, "seen"),
    },
  });
}

/** What is tried on the validation world to choose between candidates. */
export function choiceConfig(registration: Registration, choice: Registration["choice"][number]): object {
  const { methods, validation_world: world } = registration;
  return experiment(registration, world, {
    methods: choice.candidates.flatMap((settings, n) =>
      choice.by.map((id) => {
        const { label: _, ...entry } = methods.find((each) => each.id === id)!;
        const method = entry.method ?? asMethod(id);
        return withSettings({ ...entry, id: candidate(id, n), method }, settings);
      }),
    ),
    seeds: choice.seeds,
    evaluations: { [UNSEEN]: evaluation(registration, world, "unseen") },
  });
}

/** The name of a method with the n-th candidate's settings, from 0. */
export const candidate = (method: string, n: number): string => `${method}.${n + 1}`;

/** The candidate with the highest mean success over the methods that it is chosen by; of equal ones the first. */
export function chosenSettings(
  choice: Registration["choice"][number],
  meanOf: (method: string) => number,
): { settings: Settings; means: { settings: Settings; success: number }[] } {
  const means = choice.candidates.map((settings, n) => ({
    settings,
    success: choice.by.reduce((sum, method) => sum + meanOf(candidate(method, n)), 0) / choice.by.length,
  }));
  const best = Math.max(...means.map(({ success }) => success));
  return { settings: means.find(({ success }) => success === best)!.settings, means };
}

const asMethod = (id: string): NonNullable<MethodEntry["method"]> =>
  methodEntrySchema.shape.method.unwrap().parse(id);

const withSettings = (entry: MethodEntry, settings: Settings): MethodEntry => ({
  ...entry,
  settings: { ...entry.settings, ...settings },
});

function environment(world: number, { first, count }: { first: number; count: number }): object {
  return {
    name: "alfworld",
    made: { count, seed: first, size: "mini", world },
    prompt: "../models/prompt.json",
    max_decisions: HORIZON,
    max_tokens: RESPONSE_TOKENS,
  };
}

function evaluation(registration: Registration, world: number, name: "unseen" | "seen"): object {
  const { seeds: inference, ...tasks } = registration[name];
  return { environment: environment(world, tasks), seeds: inference };
}

function experiment(registration: Registration, world: number, own: object): object {
  const { tasks, batch_size, curve } = registration;
  return {
    environment: environment(world, tasks),
    teacher: "../models/teacher",
    student: "../models/student",
    tokenizer: "../models/tokenizer",
    library: "sources.jsonl.gz",
    train: {
      batch_size,
      checkpoint_every: 20,
      keep_checkpoints: 1,
      ...(curve === undefined
        ? {}
        : {
            evaluate: {
              every: curve.every,
              environment: environment(world, curve),
              seeds: curve.seeds,
            },
          }),
    },
    ...own,
  };
}
