/** Records of library format 1: schemas, streaming readers and writers. */

export { checkedBy, describeIssue, jsonType, keyPath } from "../core/record/describe-issue.ts";
export * from "../core/record/library.ts";
export * from "../core/record/schema.ts";
export * from "../core/record/unreadable.ts";
export * from "./bytes.ts";
export { gunzip, isGzip, maybeGunzip } from "./gunzip.ts";
export * from "./indexed/index.ts";
export { detectKind, FORMATS, kindOfFormat, type RecordKind, type RecordKinds } from "./kinds.ts";
export { type Line, readLines } from "./lines.ts";
export { type RangedReader, rangedBytes, rangedChunks, readExactly } from "./ranged-reader.ts";
export * from "./read.ts";
export * from "./read-files.ts";
export * from "./task-list.ts";
export * from "./what-if-record.ts";
export { gzip, recordLine, writeRecords } from "./write.ts";
