/** The index of an open file onto the user's disk, to lie beside the file. */
import { indexFileName } from "../../core/record/indexed/index.ts";
import { setData } from "../state/data-store.ts";
import { libraryWorker } from "../workers/library-client.ts";
import { faultNotice } from "./faults.ts";
import { saveFile } from "./save-file.ts";

export async function saveIndex(library: string, file: string): Promise<void> {
  try {
    const name = indexFileName(file);
    saveFile(name, await libraryWorker().indexFile(library, file));
    setData({
      notice: {
        kind: "info",
        text: `Saved ${name}. Keep it beside ${file} and open both together.`,
      },
    });
  } catch (error) {
    setData({ notice: faultNotice(error) });
  }
}
