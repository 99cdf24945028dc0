/** The ten ScienceWorld tasks of the sample, and the two that nothing was trained on. */
export const SAMPLE_TASKS = [
  "find-non-living-thing|36|easy",
  "lifespan-shortest-lived|51|easy",
  "find-animal|46|easy",
  "find-plant|3|easy",
  "power-component|0|easy",
  "chemistry-mix|3|easy",
  "chemistry-mix-paint-secondary-color|15|easy",
  "use-thermometer|3|easy",
  "melt|12|easy",
  "inclined-plane-friction-named-surfaces|653|easy",
] as const;

/** Kept out of all training, of teacher and student: what the sample shows on them was not memorised. */
export const KEPT_OUT_TASKS: readonly string[] = [
  "find-non-living-thing|36|easy",
  "lifespan-shortest-lived|51|easy",
];
