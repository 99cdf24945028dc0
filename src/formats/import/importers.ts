/** Every importer. The surest detection wins; order breaks no ties. */
import { alfworldCatalog } from "./alfworld/catalog.ts";
import { alfworldSources } from "./alfworld/sources.ts";
import { scienceworldCatalog, webshopCatalog } from "./graph-catalog/importer.ts";
import type { Importer } from "./importer.ts";
import { SINGLE_FILE_IMPORTERS } from "./single-file/index.ts";
import { studentRun } from "./student-run/importer.ts";

export const IMPORTERS: readonly Importer[] = [
  scienceworldCatalog,
  webshopCatalog,
  alfworldCatalog,
  alfworldSources,
  studentRun,
  ...SINGLE_FILE_IMPORTERS,
];
