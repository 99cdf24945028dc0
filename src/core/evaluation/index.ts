/** What a student achieves: the paper's figures, and paired comparisons. */
export * from "./best.ts";
export * from "./evaluated-episode.ts";
export * from "./metrics.ts";
export * from "./results-schema.ts";
export * from "./training-seeds.ts";
