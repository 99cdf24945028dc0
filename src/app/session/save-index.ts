/** The index of an open file onto the user's disk, to lie beside the file. */
import { indexFileName } from "../../core/record/indexed/index.ts";
import { setUi } from "../state/store.ts";
import { libraryWorker } from "../workers/clients.ts";
import { faultNotice } from "./faults.ts";
import { saveFile } from "./save-file.ts";

export async function saveIndex(library: string, file: string): Promise<void> {
  try {
    const name = indexFileName(file);
    saveFile(name, await libraryWorker().indexFile(library, file));
    setUi({
      notice: {
        kind: "info",
        text: `Saved ${name}. Keep it beside ${file} and open both together.`,
      },
    });
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}
