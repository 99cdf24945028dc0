/** The student onto the user's disk: into a folder where the browser lets a page write one, else as one .zip. */

import { faultNotice, isAbort } from "../../base/faults.ts";
import { saveFile } from "../../base/save-file.ts";
import { studentSaved } from "../../compute/models/kept-student.ts";
import { models } from "../../compute/models/models.ts";
import { setUi } from "../../compute/store.ts";
import { wholeFile } from "../../data/files/blob-folder.ts";
import { archiveFolder } from "../../data/files/model-folder.ts";

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
    studentSaved();
  } catch (error) {
    // The user closed the picker.
    if (!isAbort(error)) setUi({ notice: faultNotice(error) });
  }
}

export function downloadStudent(options: { optimizer: boolean }): Promise<void> {
  return saved(async () => {
    const folder = await models.studentFolder(options);
    if (folder === null) throw new Error("no student is open");
    saveFile(`${folder.name}.zip`, await archiveFolder(folder));
    return `Saved ${[...folder.files.keys()].join(", ")} as ${folder.name}.zip. Open it again under Student, or drop it here.`;
  });
}

/** The first of student, student-2, student-3, … that is not there yet: nothing of the user's is overwritten. */
async function freeName(parent: FileSystemDirectoryHandle, name: string): Promise<string> {
  const taken = new Set<string>();
  for await (const key of parent.keys()) taken.add(key);
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name}-${n}`;
  return free;
}

/** Writes a new folder into the one that the user picks. A folder that could not be written whole is taken away. */
export function saveStudentFolder(options: { optimizer: boolean }): Promise<void> {
  return saved(async () => {
    const parent = await window.showDirectoryPicker!({ mode: "readwrite", id: "gcopd-student" });
    const folder = await models.studentFolder(options);
    if (folder === null) throw new Error("no student is open");
    const target = await freeName(parent, folder.name);
    const directory = await parent.getDirectoryHandle(target, { create: true });
    try {
      for (const [name, file] of folder.files) {
        const writable = await (await directory.getFileHandle(name, { create: true })).createWritable();
        await (await wholeFile(file)).stream().pipeTo(writable);
      }
    } catch (error) {
      await parent.removeEntry(target, { recursive: true });
      throw error;
    }
    return `Saved ${[...folder.files.keys()].join(", ")} in ${parent.name}/${target}.`;
  });
}
