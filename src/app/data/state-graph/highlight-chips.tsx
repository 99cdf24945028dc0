/** The highlighted executions with hue and dash, each to be taken off again. */

import { Mark } from "../../base/mark.tsx";
import { Name } from "../../base/text/name.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { MOST_HIGHLIGHTS } from "../../url/place.ts";
import type { TaskModel } from "../model.ts";
import { HIGHLIGHTS, toggleHighlight } from "./highlights.ts";

/** A piece of the line that is drawn for the highlight at a place of the list. */
export function Swatch({ place }: { place: number }) {
  const style = HIGHLIGHTS[place];
  if (style === undefined) return null;
  return (
    <svg className="swatch" width="26" height="8" viewBox="0 0 26 8" aria-hidden="true">
      <path
        d="M0,4H26"
        style={{ stroke: `var(${style.hue})` }}
        strokeDasharray={style.dash}
        strokeWidth="3"
        fill="none"
      />
    </svg>
  );
}

export function HighlightChips({ task, highlights }: { task: TaskModel; highlights: readonly string[] }) {
  if (highlights.length === 0) return null;
  return (
    <ul className="highlight-chips" aria-label="Highlighted executions">
      {highlights.map((id, i) => {
        const source = task.sources.find((each) => each.id === id);
        return (
          <li key={id}>
            <Swatch place={i} />
            {source && <Mark success={source.success} />}
            <Name>{shownName(id, 80)}</Name>
            {source === undefined && <span className="muted"> takes no part in this task</span>}
            <button
              type="button"
              className="plain"
              aria-label={`Stop highlighting ${shownName(id, 80)}`}
              onClick={() => toggleHighlight(id)}
            >
              ✕
            </button>
          </li>
        );
      })}
      {highlights.length === MOST_HIGHLIGHTS && (
        <li className="muted">six at most: take one off for another</li>
      )}
    </ul>
  );
}
