/** A table of visits, maybe thousands: only the rows in sight of the inspector are in the document, all are counted. */
import { type ReactNode, useMemo, useRef, useState } from "react";
import { remPixels } from "../../../base/rem.ts";
import { unevenRows } from "../../../base/rows/row-window.ts";
import { useRowHeights } from "../../../base/rows/use-row-window.ts";

/** Height of a row without its border, and of each further line in it, in rem; visits.css says the same. */
const ROW_HEIGHT = 1.5;
const LINE_HEIGHT = 1.0625;
/** In CSS pixels. */
const BORDER = 1;
/** What scrolls the table. */
const INSPECTOR = ".inspector";
/** The inspector is hardly ever higher, in CSS pixels. */
const MOST_HEIGHT = 1200;
/** Rows beyond those in sight, so that Tab always finds a next one. */
const OVERSCAN = 4;

export interface VisitColumn {
  title: string;
  numeric?: boolean;
}

export interface VisitRow {
  className?: string;
  cells: ReactNode;
}

export function VisitTable<T>({
  label,
  className,
  columns,
  visits,
  linesOf,
  rowOf,
}: {
  label: string;
  className: string;
  columns: readonly VisitColumn[];
  visits: readonly T[];
  /** Lines of a row below its first one; the same function as long as the answers are the same. */
  linesOf: (visit: T) => number;
  rowOf: (visit: T) => VisitRow;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  // Once: asking for it lays the page out.
  const [rem] = useState(remPixels);
  const heights = useMemo(
    () => unevenRows(visits.map((visit) => BORDER + rem * (ROW_HEIGHT + LINE_HEIGHT * linesOf(visit)))),
    [visits, linesOf, rem],
  );
  const { first, end, before, after } = useRowHeights(body, heights, null, {
    overscan: OVERSCAN,
    most: MOST_HEIGHT,
    within: INSPECTOR,
  });
  return (
    <section className={`visits ${className}`} aria-label={label}>
      <table aria-rowcount={visits.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ title, numeric }) => (
              <th key={title} scope="col" className={numeric ? "number" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} style={{ paddingTop: before, paddingBottom: after }}>
          {visits.slice(first, end).map((visit, i) => {
            const row = first + i;
            const { className, cells } = rowOf(visit);
            return (
              // Another decision's rows are drawn into the elements of the last one's.
              <tr key={row} aria-rowindex={row + 2} className={className}>
                {cells}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
