/** The index of an open file onto the user's disk, to lie beside the file. */
import { indexFileName } from "../../../formats/indexed/index.ts";
import { faultNotice } from "../../base/faults.ts";
import { saveFile } from "../../base/save-file.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { setData } from "../../data/store.ts";

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
