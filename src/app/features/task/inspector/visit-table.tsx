/** A table of visits, maybe thousands: only the rows in sight of the inspector are in the document, all are counted. */
import { type ReactNode, useMemo, useRef } from "react";
import { unevenRows } from "../../../base/rows/row-window.ts";
import { useRowHeights } from "../../../base/rows/use-row-window.ts";

/** Height of a row, and of each further line in it, in CSS pixels; visits.css says the same. */
const ROW_HEIGHT = 25;
const LINE_HEIGHT = 17;
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
  const heights = useMemo(
    () => unevenRows(visits.map((visit) => ROW_HEIGHT + LINE_HEIGHT * linesOf(visit))),
    [visits, linesOf],
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
