/** The student onto the user's disk: into a folder where the browser lets a page write one, else as one .zip. */
import { archiveFolder } from "../library/model-folder.ts";
import { setUi } from "../state/store.ts";
import { faultNotice, isAbort } from "./faults.ts";
import { studentFolder } from "./models.ts";

declare global {
  interface Window {
    /** The File System Access API: Chromium only. */
    showDirectoryPicker?: (options: { mode: "readwrite"; id?: string }) => Promise<FileSystemDirectoryHandle>;
  }
}

export const canSaveFolder = (): boolean => window.showDirectoryPicker !== undefined;

async function saved(what: () => Promise<string>): Promise<void> {
  try {
    setUi({ notice: { kind: "info", text: await what() } });
  } catch (error) {
    // The user closed the picker.
    if (!isAbort(error)) setUi({ notice: faultNotice(error) });
  }
}

export function downloadStudent(options: { optimizer: boolean }): Promise<void> {
  return saved(async () => {
    const folder = await studentFolder(options);
    if (folder === null) throw new Error("no student is open");
    const url = URL.createObjectURL(await archiveFolder(folder));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${folder.name}.zip`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    return `Saved ${[...folder.files.keys()].join(", ")} as ${folder.name}.zip. Open it again under Student, or drop it here.`;
  });
}

/** Each file is written beside its final name by the browser and swapped in when it is whole. */
export function saveStudentFolder(options: { optimizer: boolean }): Promise<void> {
  return saved(async () => {
    const parent = await window.showDirectoryPicker!({ mode: "readwrite", id: "gcopd-student" });
    const folder = await studentFolder(options);
    if (folder === null) throw new Error("no student is open");
    const target = await parent.getDirectoryHandle(folder.name, { create: true });
    for (const [name, blob] of folder.files) {
      const writable = await (await target.getFileHandle(name, { create: true })).createWritable();
      try {
        await writable.write(blob);
        await writable.close();
      } catch (error) {
        await writable.abort().catch(() => undefined);
        throw error;
      }
    }
    return `Saved ${[...folder.files.keys()].join(", ")} in ${parent.name}/${folder.name}.`;
  });
}
