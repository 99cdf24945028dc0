/**
 * The line at the bottom: the last notice, or how far an opening is; else what is open and what computes. It is always
 * there, so that nothing in the view moves when a notice comes; a what-if is shown above it, for the same reason.
 */

import { countOf } from "../../core/plural.ts";
import type { Notice, Progress } from "../base/notice.ts";
import { shownName, shownText } from "../base/text/shown-text.ts";
import { useEpisodeInFront } from "../compute/games/play-mode.ts";
import { stopOpening } from "../compute/open/open.ts";
import { setUi, useUi } from "../compute/store.ts";
import { undoList, useUndo } from "../data/undo.ts";
import { setShell } from "./shell-state.ts";
import { WhatIfBadge } from "./what-if-badge.tsx";

export function StatusBar() {
  const notice = useUi((ui) => ui.notice);
  const opening = useUi((ui) => ui.opening);
  return (
    <footer className="status-bar">
      <WhatIfBadge />
      {opening && <Opening progress={opening} />}
      {notice && <NoticeLine notice={notice} />}
      {opening === null && notice === null && <AtRest />}
    </footer>
  );
}

function Opening({ progress }: { progress: Progress }) {
  const label = shownText(progress.label);
  return (
    <div className="banner info" role="status">
      <p>
        {label}
        {progress.done > 0 && `: ${amount(progress)}`}
      </p>
      {progress.total > 0 && <progress max={progress.total} value={progress.done} aria-label={label} />}
      <button type="button" onClick={stopOpening}>
        Stop
      </button>
    </div>
  );
}

function NoticeLine({ notice }: { notice: Notice }) {
  return (
    <div
      className={`banner ${notice.kind}`}
      role={notice.kind === "error" ? "alert" : "status"}
      data-testid="notice"
    >
      <p>{shownText(notice.text)}</p>
      <UndoButton id={notice.undo} />
      <button type="button" onClick={() => setUi({ notice: null })}>
        Dismiss
      </button>
    </div>
  );
}

/** Undoes the change that a notice reports, while it is still the last one. */
function UndoButton({ id }: { id: number | undefined }) {
  const last = useUndo(({ changes }) => changes.at(-1)?.id);
  const gameHasKey = useEpisodeInFront();
  if (id === undefined || id !== last) return null;
  return (
    <button type="button" onClick={() => void undoList.undoLast()}>
      Undo {!gameHasKey && <span className="key">z</span>}
    </button>
  );
}

/** `230 of 560 MB`, `1,024 records`. */
function amount({ done, total, unit }: Progress): string {
  const number = (value: number): string =>
    unit === "bytes" ? String(Math.round(value / 1e6)) : value.toLocaleString("en");
  const word = unit === "bytes" ? "MB" : unit;
  return total > 0 ? `${number(done)} of ${number(total)} ${word}` : `${number(done)} ${word}`;
}

function AtRest() {
  const library = useUi((ui) => ui.library);
  const { kind, adapter, compute } = useUi((ui) => ui.device);
  return (
    <p className="at-rest">
      {library !== null && (
        <span title={library.files.map((file) => shownName(file.name)).join("\n")}>
          <bdi>{shownName(library.title)}</bdi>, {countOf(library.tasks.length, "task")}
        </span>
      )}
      {kind !== "unknown" && (
        <button type="button" className="at-rest-device" onClick={() => setShell({ deviceOpen: true })}>
          Computes on {adapter}
          {compute === "f16" && ", f16"}
        </button>
      )}
    </p>
  );
}
