/** A file of records, or a folder of some kind, chosen from the folder that the worker shares. A native dialog. */

import { useState } from "react";
import type { SharedList } from "../../../protocol/files.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { useDialog } from "../../base/use-dialog.ts";
import { isRecordFile } from "../../data/files/path-files.ts";
import { pathIn, SharedFolder, useSharedFolder } from "./shared-folder.tsx";

/** What makes a folder of the worker's disk the right one. */
export interface FolderKind {
  fits: (list: SharedList) => boolean;
  /** Messages for a folder that fits and for one that does not: one sentence each. */
  found: string;
  missing: string;
}

interface Wanted {
  /** The word after "The" and "Choose the": "student". */
  what: string;
  /** Null where a file of records is chosen. */
  folder: FolderKind | null;
}

/** `onChoose` is given the path below the shared folder; that folder itself is "". */
export function SharedPathDialog({
  what,
  folder,
  open,
  onClose,
  onChoose,
}: Wanted & { open: boolean; onClose: () => void; onChoose: (path: string) => void }) {
  const dialog = useDialog(open);
  const choose = (path: string): void => {
    onClose();
    onChoose(path);
  };
  return (
    <dialog
      ref={dialog}
      className="help shared"
      aria-label={`Choose the ${what} on the worker’s disk`}
      onClose={onClose}
    >
      <header>
        <h2>The {what}, on the worker’s disk</h2>
        <button type="button" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      {open && <Choice folder={folder} choose={choose} />}
    </dialog>
  );
}

/** A button that opens the dialog. */
export function ChoosePath({
  disabled,
  onChoose,
  ...wanted
}: Wanted & { disabled: boolean; onChoose: (path: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        disabled={disabled}
        aria-label={`Choose: ${wanted.what}`}
        onClick={() => setOpen(true)}
      >
        Choose…
      </button>
      <SharedPathDialog {...wanted} open={open} onClose={() => setOpen(false)} onChoose={onChoose} />
    </>
  );
}

function Choice({ folder, choose }: Pick<Wanted, "folder"> & { choose: (path: string) => void }) {
  const shared = useSharedFolder();
  const { path, list } = shared;
  const fits = list !== null && (folder?.fits(list) ?? false);
  return (
    <div className="shared-body">
      <SharedFolder
        folder={shared}
        testId="path-list"
        file={(name) =>
          folder === null && isRecordFile({ path: name }) ? (
            <button type="button" className="plain" onClick={() => choose(pathIn(path, name))}>
              <bdi>{shownName(name)}</bdi>
            </button>
          ) : (
            <bdi className="muted">{shownName(name)}</bdi>
          )
        }
      />
      {folder !== null && (
        <footer>
          <button type="button" className="primary" disabled={!fits} onClick={() => choose(path)}>
            Choose this folder
          </button>
          <span className="note">{fits ? folder.found : folder.missing}</span>
        </footer>
      )}
    </div>
  );
}
