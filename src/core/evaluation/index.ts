/** What a student achieves: the paper's figures, and paired comparisons. */
export * from "./metrics.ts";
