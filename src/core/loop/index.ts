/** The training loop over the ports (Algorithm 1). */
export type * from "./batch-tokens.ts";
export * from "./batches.ts";
export * from "./checkpoint.ts";
export type * from "./codec.ts";
export * from "./configured-data.ts";
export * from "./data.ts";
export type * from "./events.ts";
export * from "./metrics.ts";
export type * from "./parent-run.ts";
export * from "./probe.ts";
export * from "./recorded-environment.ts";
export * from "./rollout.ts";
export * from "./rows.ts";
export * from "./run-lengths.ts";
export * from "./teacher-contexts.ts";
export * from "./train.ts";
export * from "./train-config.ts";
