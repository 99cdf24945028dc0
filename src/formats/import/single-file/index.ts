/** Formats whose recordings lie in single files of rows. */
import type { Importer } from "../importer.ts";
import { atif } from "./atif.ts";
import { exportedTables } from "./exported.ts";
import { openaiChat } from "./openai-chat.ts";
import { scienceworldHistory } from "./scienceworld-history.ts";
import { sharegpt } from "./sharegpt.ts";
import { tcod } from "./tcod.ts";
import { verlRollouts } from "./verl.ts";
import { webshopSession } from "./webshop-session.ts";

/** Most specific first. */
export const SINGLE_FILE_IMPORTERS: readonly Importer[] = [
  exportedTables,
  atif,
  scienceworldHistory,
  webshopSession,
  sharegpt,
  openaiChat,
  verlRollouts,
  tcod,
];
