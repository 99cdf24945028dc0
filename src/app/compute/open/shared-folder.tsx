/** A folder of the worker's disk, as the dialogs that choose from it show it: where it lies, and what is in it. */
import { type ReactNode, useEffect, useState } from "react";
import { countOf } from "../../../core/plural.ts";
import type { SharedList } from "../../../protocol/files.ts";
import { describeFault } from "../../base/faults.ts";
import { Scroller } from "../../base/scroller.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { listShared } from "../../data/shared-folder.ts";
import { gigabytes } from "../hub/hub.ts";

/** The path of an entry of a folder; that of the shared folder itself is "". */
export const pathIn = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`);

export interface SharedFolderState {
  path: string;
  go: (path: string) => void;
  /** Null until the worker has answered. */
  list: SharedList | null;
  problem: string | null;
}

/** Begins at the shared folder itself, and asks the worker again for each folder that is gone to. */
export function useSharedFolder(): SharedFolderState {
  const [path, go] = useState("");
  const [list, setList] = useState<SharedList | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    setList(null);
    setProblem(null);
    listShared(path).then(
      (found) => current && setList(found),
      (error: unknown) => current && setProblem(describeFault(error)),
    );
    return () => {
      current = false;
    };
  }, [path]);
  return { path, go, list, problem };
}

/** `file` shows what is not a folder. */
export function SharedFolder({
  folder: { path, go, list, problem },
  testId,
  file,
}: {
  folder: SharedFolderState;
  testId: string;
  file: (name: string) => ReactNode;
}) {
  return (
    <>
      <Trail path={path} go={go} />
      {problem !== null && (
        <p className="fault" role="alert" data-testid="shared-problem">
          {problem}
        </p>
      )}
      {list === null && problem === null && <p className="note">Asking the worker…</p>}
      {list !== null && (
        <Scroller className="shared-list" label="Files">
          <ul data-testid={testId}>
            {list.entries.map(({ name, kind, bytes }) => (
              <li key={name}>
                {kind === "folder" ? (
                  <button type="button" className="plain" onClick={() => go(pathIn(path, name))}>
                    <bdi>{shownName(name)}/</bdi>
                  </button>
                ) : (
                  file(name)
                )}
                {bytes !== null && <span className="note">{gigabytes(bytes)}</span>}
              </li>
            ))}
          </ul>
          {list.entries.length === 0 && <p className="note">The worker shares nothing in this folder.</p>}
          {list.more > 0 && <p className="note">{countOf(list.more, "more file")} not listed.</p>}
        </Scroller>
      )}
    </>
  );
}

/** The folders on the way, each a button but the last. */
function Trail({ path, go }: { path: string; go: (path: string) => void }) {
  const parts = path === "" ? [] : path.split("/");
  const places = ["", ...parts.map((_, i) => parts.slice(0, i + 1).join("/"))];
  return (
    <nav aria-label="Folder" className="shared-trail">
      {places.map((place, i) => {
        const title = i === 0 ? "shared folder" : shownName(parts[i - 1]!);
        return place === path ? (
          <span key={place} aria-current="location">
            {title}
          </span>
        ) : (
          <span key={place}>
            <button type="button" className="plain" onClick={() => go(place)}>
              {title}
            </button>{" "}
            /{" "}
          </span>
        );
      })}
    </nav>
  );
}
