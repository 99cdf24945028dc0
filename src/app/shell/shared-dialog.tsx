/** Files of the worker's disk: the folder that it shares, and the files to open from it. A native dialog. */

import { useState } from "react";
import { countOf } from "../../core/plural.ts";
import { shownName } from "../base/text/shown-text.ts";
import { useDialog } from "../base/use-dialog.ts";
import { isModelAtWork } from "../compute/computing.ts";
import { looksLikeModel, openSharedModel } from "../compute/models/shared-model.ts";
import { openShared } from "../compute/open/open.ts";
import { pathIn, SharedFolder, useSharedFolder } from "../compute/open/shared-folder.tsx";
import { ROLES, type Role, setUi, useUi } from "../compute/store.ts";
import { isRecordFile } from "../data/files/path-files.ts";

const close = (): void => setUi({ sharedOpen: false });

export function SharedDialog() {
  const open = useUi((ui) => ui.sharedOpen);
  const dialog = useDialog(open);
  return (
    <dialog ref={dialog} className="help shared" aria-labelledby="shared-title" onClose={close}>
      <header>
        <h2 id="shared-title">Files of the worker</h2>
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      {open && <Browser />}
    </dialog>
  );
}

function Browser() {
  const folder = useSharedFolder();
  const { path, list } = folder;
  /** Paths below the shared folder, in the order in which they were chosen; from any of its folders. */
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const busy = useUi((ui) => ui.opening !== null);
  const toggle = (file: string): void =>
    setChosen(chosen.includes(file) ? chosen.filter((each) => each !== file) : [...chosen, file]);
  return (
    <form
      className="shared-body"
      onSubmit={(event) => {
        event.preventDefault();
        close();
        void openShared(chosen);
      }}
    >
      <SharedFolder
        folder={folder}
        testId="shared-list"
        file={(name) =>
          isRecordFile({ path: name }) ? (
            <label>
              <input
                type="checkbox"
                checked={chosen.includes(pathIn(path, name))}
                onChange={() => toggle(pathIn(path, name))}
              />{" "}
              <bdi>{shownName(name)}</bdi>
            </label>
          ) : (
            <bdi className="muted">{shownName(name)}</bdi>
          )
        }
      />
      {list !== null && looksLikeModel(list) && <AsModel path={path} />}
      <footer>
        <button type="submit" className="primary" disabled={busy || chosen.length === 0}>
          Open {chosen.length === 0 ? "files" : countOf(chosen.length, "file")}
        </button>
        <button
          type="button"
          disabled={busy || list === null || list.entries.length === 0}
          title="The records in it, at any depth; or, where it has none, what other programs recorded, imported with a report"
          onClick={() => {
            close();
            void openShared([`${path}/`]);
          }}
        >
          Open this folder
        </button>
        <span className="note">
          {chosen.length === 0
            ? "Sources and episodes: .jsonl and .jsonl.gz. Choose all that belong together; one task is read at a time. Or the whole folder, imported where it holds other programs’ recordings."
            : chosen.map((file) => shownName(file)).join(", ")}
        </span>
      </footer>
    </form>
  );
}

/** A folder with a model in it: its weights stay on the worker's disk, and are read in parts. */
function AsModel({ path }: { path: string }) {
  const busy = useUi(isModelAtWork);
  const use = (role: Role): void => {
    close();
    void openSharedModel(role, path);
  };
  return (
    <p className="shared-model">
      This folder holds a model.{" "}
      {ROLES.map((role) => (
        <button key={role} type="button" disabled={busy} onClick={() => use(role)}>
          Take it as the {role}
        </button>
      ))}
    </p>
  );
}
