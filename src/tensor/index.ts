export type { AdamWStep, Backend, KeyRange, Tensor } from "./backend.ts";
export { createReferenceBackend } from "./reference/index.ts";
