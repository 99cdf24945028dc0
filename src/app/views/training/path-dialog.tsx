/** A file or folder of the worker's disk, chosen from the folder that the worker shares. A native dialog. */
import { useEffect, useRef, useState } from "react";
import { isRecordFile } from "../../library/path-files.ts";
import type { SharedList } from "../../library/shared-files.ts";
import { describeFault } from "../../session/faults.ts";
import { gigabytes } from "../../session/hub.ts";
import { listShared } from "../../session/shared-folder.ts";
import { countOf } from "../../shell/plural.ts";
import { Scroller } from "../../shell/scroller.tsx";
import { shownName } from "../../text/shown-text.ts";
import { Trail } from "../library/shared-dialog.tsx";

/** Keys of the config that name a path, and the file that makes a folder the right one. */
const FOLDERS: Readonly<Record<string, string>> = {
  teacher: "config.json",
  student: "config.json",
  tokenizer: "tokenizer.json",
};
export const PATH_FIELDS: readonly string[] = ["library", "episodes", ...Object.keys(FOLDERS)];

/** A button that opens the dialog; `root` is the shared folder, to which what is chosen is joined. */
export function ChoosePath({
  of,
  root,
  disabled,
  onChoose,
}: {
  /** Key of the config. */
  of: string;
  root: string;
  disabled: boolean;
  onChoose: (path: string) => void;
}) {
  const [open, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  const choose = (path: string): void => {
    onChoose(path === "" ? root : `${root.replace(/\/$/, "")}/${path}`);
    setOpen(false);
  };
  return (
    <>
      <button type="button" disabled={disabled} aria-label={`Choose: ${of}`} onClick={() => setOpen(true)}>
        Choose…
      </button>
      <dialog
        ref={dialog}
        className="help shared"
        aria-label={`Choose the ${of} on the worker’s disk`}
        onClose={() => setOpen(false)}
      >
        <header>
          <h2>The {of}, on the worker’s disk</h2>
          <button type="button" onClick={() => setOpen(false)}>
            Close <kbd>Esc</kbd>
          </button>
        </header>
        {open && <Choice of={of} choose={choose} />}
      </dialog>
    </>
  );
}

function Choice({ of, choose }: { of: string; choose: (path: string) => void }) {
  const [path, setPath] = useState("");
  const [list, setList] = useState<SharedList | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const wanted = FOLDERS[of];
  useEffect(() => {
    let current = true;
    setList(null);
    setProblem(null);
    listShared(path).then(
      (found) => current && setList(found),
      (error) => current && setProblem(describeFault(error)),
    );
    return () => {
      current = false;
    };
  }, [path]);
  const at = (name: string): string => (path === "" ? name : `${path}/${name}`);
  const fits = list?.entries.some(({ name }) => name === wanted) ?? false;
  return (
    <div className="shared-body">
      <Trail path={path} go={setPath} />
      {problem !== null && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
      {list === null && problem === null && <p className="note">Asking the worker…</p>}
      {list !== null && (
        <Scroller className="shared-list" label="Files">
          <ul data-testid="path-list">
            {list.entries.map(({ name, kind, bytes }) => (
              <li key={name}>
                {kind === "folder" ? (
                  <button type="button" className="plain" onClick={() => setPath(at(name))}>
                    <bdi>{shownName(name)}/</bdi>
                  </button>
                ) : wanted === undefined && isRecordFile({ path: name }) ? (
                  <button type="button" className="plain" onClick={() => choose(at(name))}>
                    <bdi>{shownName(name)}</bdi>
                  </button>
                ) : (
                  <bdi className="muted">{shownName(name)}</bdi>
                )}
                {bytes !== null && <span className="note">{gigabytes(bytes)}</span>}
              </li>
            ))}
          </ul>
          {list.entries.length === 0 && <p className="note">Nothing is in this folder that may be shown.</p>}
          {list.more > 0 && <p className="note">{countOf(list.more, "more file")} not listed.</p>}
        </Scroller>
      )}
      {wanted !== undefined && (
        <footer>
          <button type="button" className="primary" disabled={!fits} onClick={() => choose(path)}>
            Choose this folder
          </button>
          <span className="note">
            {fits ? `It has a ${wanted}.` : `Open the folder that has the ${of}’s ${wanted}.`}
          </span>
        </footer>
      )}
    </div>
  );
}
