/** Tokens as rows of figures: one Tab stop, as the strip is. */
import type { KeyboardEvent, ReactNode } from "react";
import { navigate } from "../../data/navigate.ts";

/** Up, down, Home and End go through the rows, and select as they go. */
function move(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const row = event.target instanceof Element ? event.target.closest("tr") : null;
  const rows = row?.closest("tbody")?.rows;
  if (!row || rows === undefined) return;
  const last = rows.length - 1;
  const at = row.sectionRowIndex;
  const to = {
    ArrowDown: Math.min(at + 1, last),
    ArrowUp: Math.max(at - 1, 0),
    Home: 0,
    End: last,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const button = rows[to]?.querySelector("button");
  button?.focus();
  button?.click();
}

/** A table whose rows have `TokenCells`; one of them is `reached`. */
export function TokenGrid({
  label,
  className = "",
  children,
}: {
  label: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    // Some browsers make a Tab stop of whatever scrolls.
    <div className={`token-table ${className}`} tabIndex={-1}>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is more than a table: its rows take the focus */}
      <table role="grid" aria-label={label} onKeyDown={move}>
        {children}
      </table>
    </div>
  );
}

/** The heads of `TokenCells`. */
export function TokenHeads() {
  return (
    <>
      <th scope="col" className="number">
        #
      </th>
      <th scope="col">token</th>
    </>
  );
}

/** The first cells of a token's row: its place in the response, and its text, which selects it. */
export function TokenCells({
  at,
  text,
  reached,
  token = at,
}: {
  at: number;
  text: string;
  /** By the Tab key. */
  reached: boolean;
  token?: number;
}) {
  return (
    <>
      <td className="number">{at}</td>
      <th scope="row">
        <button
          type="button"
          className="plain"
          tabIndex={reached ? 0 : -1}
          onClick={() => navigate({ token })}
        >
          <bdi>
            <code>{text}</code>
          </bdi>
        </button>
      </th>
    </>
  );
}
