/**
 * The registered experiment's tables from the trainings that are kept, and the file that the page draws:
 *
 *     node scripts/run.mjs scripts/miniature/tables.ts
 */
import { writeFile } from "node:fs/promises";
import { readCells } from "./cells.ts";
import { registeredForPage, registeredResults, resultsText } from "./registered-results.ts";
import { readRegistration } from "./registration.ts";

const registration = readRegistration("configs/miniature/registered.json");
const cells = await readCells("configs/miniature/registered-cells.json");
console.log(resultsText(registeredResults(registration, cells, ["listed in configs/miniature/README.md"])));
await writeFile(
  "public/miniature/registered.json",
  `${JSON.stringify(registeredForPage(registration, cells))}\n`,
);
