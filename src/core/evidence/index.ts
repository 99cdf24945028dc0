export * from "./budget.ts";
export { evidenceInput } from "./evidence-input.ts";
export * from "./insert.ts";
export * from "./leave-out.ts";
export {
  CURRENT_MARK,
  MATCHED_MARK,
  type RenderOptions,
  renderEvidence,
  SOURCE_HEADING,
  STUDENT_HEADING,
} from "./render.ts";
export type * from "./types.ts";
export { EVIDENCE_RECORDS, NO_EVIDENCE } from "./types.ts";
export * from "./what-if.ts";
