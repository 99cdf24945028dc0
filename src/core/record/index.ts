/** Records of library format 1: schemas, streaming readers and writers. */
export * from "./bytes.ts";
export { checkedBy, describeIssue, jsonType, keyPath } from "./describe-issue.ts";
export { gunzip, isGzip, maybeGunzip } from "./gunzip.ts";
export * from "./indexed/index.ts";
export { detectKind, FORMATS, kindOfFormat, type RecordKind, type RecordKinds } from "./kinds.ts";
export * from "./library.ts";
export { type Line, readLines } from "./lines.ts";
export { type RangedReader, rangedBytes, rangedChunks, readExactly } from "./ranged-reader.ts";
export * from "./read.ts";
export * from "./read-files.ts";
export * from "./schema.ts";
export * from "./unreadable.ts";
export { gzip, recordLine, writeRecords } from "./write.ts";
