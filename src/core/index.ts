/** `import { … } from "gcopd"`: the method, free of I/O. */
export * from "./errors.ts";
export type * from "./evidence/types.ts";
export * from "./ports.ts";
export * from "./record/schema.ts";
export type * from "./retrieval/types.ts";
