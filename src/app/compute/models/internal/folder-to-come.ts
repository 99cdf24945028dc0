import type { FolderFiles } from "../../../data/files/blob-folder.ts";

/** The folder of a student while the compute worker still writes it. */
export class FolderToCome {
  readonly folder: Promise<FolderFiles>;
  /** Ends the wait: a worker that was ended never answers. */
  giveUp!: (reason: Error) => void;

  constructor(written: Promise<FolderFiles>) {
    this.folder = new Promise((resolve, reject) => {
      this.giveUp = reject;
      written.then(resolve, reject);
    });
  }
}
