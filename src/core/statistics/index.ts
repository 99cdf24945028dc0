/** The figures of the paper, for any library and episode set. */
export * from "./ablation.ts";
export * from "./coverage.ts";
export * from "./decision-statistics.ts";
export * from "./evidence-sizes.ts";
export * from "./graph-totals.ts";
export * from "./library-statistics.ts";
export * from "./tables.ts";
