/** Every importer, most specific first. */
import type { Importer } from "./importer.ts";

export const IMPORTERS: readonly Importer[] = [];
