export * from "./matching-key.ts";
export * from "./statistics.ts";
export * from "./task-graph.ts";
