/** `import { … } from "gcopd"`: the method, free of I/O. */

export * from "./environment/environment.ts";
export { isRejection } from "./environment/scienceworld/parser-mode.ts";
export * from "./errors.ts";
export type * from "./evidence/types.ts";
export * from "./ports.ts";
export { type ByteSource, byteChunks } from "./record/bytes.ts";
export { detectKind, type RecordKind, type RecordKinds } from "./record/kinds.ts";
export * from "./record/library.ts";
export {
  checkRecord,
  type ReadOptions,
  type RecordLine,
  readAnyRecords,
  readObjects,
  readRecords,
  readWithSchema,
} from "./record/read.ts";
export * from "./record/schema.ts";
export { gzip, recordLine, writeRecords } from "./record/write.ts";
export type * from "./retrieval/types.ts";
