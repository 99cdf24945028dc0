/** Rows of figures as one Tab stop, as the strip is: tokens, and what leads to tokens or to parts of the evidence. */
import { type KeyboardEvent, type ReactNode, type Ref, useState } from "react";
import { navigate } from "../../data/navigate.ts";

/** Arrow keys, Home and End go through the buttons of the rows. @returns the one they went to */
function move(event: KeyboardEvent): HTMLButtonElement | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  const from = event.target instanceof Element ? event.target.closest("tbody button") : null;
  const rows = [...(from?.closest("tbody")?.rows ?? [])]
    .map((row) => [...row.querySelectorAll("button")])
    .filter(({ length }) => length > 0);
  const at = rows.findIndex((buttons) => buttons.some((button) => button === from));
  if (at < 0) return null;
  const column = rows[at]!.indexOf(from as HTMLButtonElement);
  const last = rows.length - 1;
  const [row, side] = {
    ArrowDown: [Math.min(at + 1, last), column],
    ArrowUp: [Math.max(at - 1, 0), column],
    Home: [0, column],
    End: [last, column],
    ArrowLeft: [at, column - 1],
    ArrowRight: [at, column + 1],
  }[event.key] ?? [-1, -1];
  const to = rows[row!]?.[side!] ?? null;
  if (to === null) return null;
  event.preventDefault();
  to.focus();
  return to;
}

const select = (event: KeyboardEvent): void => move(event)?.click();

/**
 * A table whose rows have buttons, one of them with a `tabIndex` of 0. Where the rows are tokens (`TokenCells`), going to
 * one selects it; where they `lead` elsewhere, keys only go to them.
 */
export function TokenGrid({
  label,
  className = "",
  leads = false,
  rowCount,
  ref,
  children,
}: {
  label: string;
  className?: string;
  leads?: boolean;
  /** Where only the rows in sight are in the document: of all, with the head. */
  rowCount?: number;
  /** What scrolls. */
  ref?: Ref<HTMLDivElement>;
  children: ReactNode;
}) {
  return (
    // Some browsers make a Tab stop of whatever scrolls.
    <div ref={ref} className={`token-table ${className}`} tabIndex={-1}>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is more than a table: its rows take the focus */}
      <table role="grid" aria-label={label} aria-rowcount={rowCount} onKeyDown={leads ? move : select}>
        {children}
      </table>
    </div>
  );
}

/**
 * For a grid whose buttons lead elsewhere: which of them the Tab key reaches, the one that last had the focus.
 *
 * @param first @param end the places of the buttons that are in the document
 * @returns what the button in a place needs for that
 */
export function useTabStop(first: number, end: number) {
  const [last, setLast] = useState(0);
  const stop = Math.max(first, Math.min(last, end - 1));
  return (place: number) => ({ tabIndex: place === stop ? 0 : -1, onFocus: () => setLast(place) });
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
