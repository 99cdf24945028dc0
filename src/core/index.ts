/** `import { … } from "gcopd"`: the method, free of I/O. */
export * from "./environment/index.ts";
export * from "./errors.ts";
export * from "./evaluation/index.ts";
export * from "./evidence/index.ts";
export * from "./gate/index.ts";
export * from "./graph/index.ts";
export * from "./loop/index.ts";
export * from "./method/index.ts";
export * from "./objective/index.ts";
export * from "./ports.ts";
export * from "./record/library.ts";
export * from "./record/schema.ts";
export * from "./record/standing.ts";
export * from "./record/unreadable.ts";
export * from "./retrieval/index.ts";
export * from "./seeded.ts";
export * from "./statistics/index.ts";
