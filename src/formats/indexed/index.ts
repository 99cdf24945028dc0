/** Files of any size, read one task at a time: byte-offset index and its file. */
export { type BuildIndexOptions, buildIndex } from "./build.ts";
export { indexFileName, indexLines, isIndexHeader, readIndex } from "./file.ts";
export { fileIdentity, isFresh, sampleDigest } from "./identity.ts";
export { type IndexedLibrary, openIndexedLibrary } from "./indexed-library.ts";
export type {
  FileIdentity,
  LibraryIndex,
  RecordEntry,
  TaskEntry,
} from "./types.ts";
