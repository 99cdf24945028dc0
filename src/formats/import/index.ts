/** Import of other programs' recordings: one API for the command and the page. */

export { describeReport } from "./describe-report.ts";
export { blobFiles, type ImportFile, type ImportFiles, memoryFiles, subfolder } from "./files.ts";
export type { Detection, ImportContext, ImportedRecord, Importer } from "./importer.ts";
export { IMPORTERS } from "./importers.ts";
export type { ImportReport, ImportWarning, Skipped, Unaligned } from "./report.ts";
export {
  chooseImporter,
  detectImporters,
  episodesOf,
  type Import,
  runImport,
  sourcesOf,
} from "./run-import.ts";
