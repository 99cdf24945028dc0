/** The largest changes across an episode or a whole task: a job, its figures, and a table that leads to each token. */
import { type KeyboardEvent, type RefObject, useLayoutEffect, useMemo, useRef } from "react";
import { countOf } from "../../../../core/plural.ts";
import { safeName } from "../../../base/export/safe-name.ts";
import { nats, probability, shortToken } from "../../../base/format.ts";
import { useRowWindow } from "../../../base/rows/use-row-window.ts";
import { saveFile } from "../../../base/save-file.ts";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { isDeviceBusy } from "../../../compute/computing.ts";
import { getUi, type UiState, useUi } from "../../../compute/store.ts";
import type { TaskModel } from "../../../data/model.ts";
import { navigate } from "../../../data/navigate.ts";
import type { ChangeSort } from "../../../url/place.ts";
import { ofTask, selectionOf } from "../../../url/what-if.ts";
import { JobProgress } from "../job-progress.tsx";
import { MeanByPosition } from "../plots/mean-plot.tsx";
import { TokenGrid, useTabStop } from "../token-cells.tsx";
import { type ChangeRow, KEPT_ROWS, POSITIONS } from "./change-collector.ts";
import { changesCsv, sortChanges } from "./change-table.ts";
import { CHANGES_KEY, type Changes, KEPT_STRIPS, scoreChanges, useChanges } from "./changes.ts";

/** Height of every row, in rem; tokens.css says the same. */
const ROW_HEIGHT = 1.5;

const COLUMNS: { sort: ChangeSort | null; title: string; numeric: boolean }[] = [
  { sort: "decision", title: "Episode, decision", numeric: false },
  { sort: "token", title: "Token", numeric: false },
  { sort: "vanilla", title: "p without", numeric: true },
  { sort: "graph", title: "p with", numeric: true },
  { sort: "signed", title: "Δ log p", numeric: true },
  { sort: "change", title: "|Δ|", numeric: true },
  { sort: null, title: "Argmax flips", numeric: false },
];

export function ChangesPanel({ task }: { task: TaskModel }) {
  const changes = useChanges((state) => state.changes);
  const episode = useUi((ui) => ui.decision?.episode ?? ui.place.episode);
  const place = useUi((ui) => ui.place);
  const busy = useUi(isDeviceBusy);
  const here =
    changes !== null &&
    changes.library === task.library &&
    changes.task === task.task &&
    changes.environment === task.environment
      ? changes
      : null;
  const stale =
    here !== null &&
    (here.endOfTurn !== place.endOfTurn ||
      JSON.stringify(here.selection) !== JSON.stringify(selectionOf(ofTask(place))));
  const all = task.episodes.reduce((sum, { decisions }) => sum + decisions, 0);
  const own = task.episodes.find(({ id }) => id === episode)?.decisions ?? 0;
  return (
    <section className="panel changes" aria-labelledby="changes-title" data-testid="changes">
      <div className="panel-head">
        <h2 id="changes-title">Largest changes across many decisions</h2>
        <span className="note">the teacher without and with the evidence, two sequences each</span>
      </div>
      <div className="left-out-tools">
        <button type="button" disabled={busy || own === 0} onClick={() => void scoreChanges("episode")}>
          Measure this episode ({countOf(own, "decision")})
        </button>
        <button type="button" disabled={busy || all === 0} onClick={() => void scoreChanges("task")}>
          Measure the whole task ({countOf(all, "decision")})
        </button>
        <span className="note">
          Every token counts in the figures; the {KEPT_ROWS.toLocaleString("en")} largest changes and the
          strips of {KEPT_STRIPS} decisions are kept.
        </span>
      </div>
      <JobProgress job="changes" at={CHANGES_KEY} />
      {stale && (
        <p className="note changes-note" role="status">
          These figures are of {here.evidence}
          {here.endOfTurn !== place.endOfTurn &&
            `, ${here.endOfTurn ? "with" : "without"} the end-of-turn token after texts`}
          , not of what the view shows now.
        </p>
      )}
      {here !== null && <Results changes={here} busy={busy} />}
    </section>
  );
}

function Results({ changes, busy }: { changes: Changes; busy: boolean }) {
  const { figures, rows, total, skipped, finished } = changes;
  const sort = useUi((ui) => ui.place.changesSort);
  const descending = useUi((ui) => ui.place.changesDescending);
  const sorted = useMemo(() => sortChanges(rows, sort, descending), [rows, sort, descending]);
  const scroller = useRef<HTMLDivElement>(null);
  const save = (): void => {
    const name = `${safeName(changes.task)}-${safeName(changes.episode ?? "all-episodes")}-changes.csv`;
    saveFile(name, new Blob([changesCsv(changes, sorted)], { type: "text/csv;charset=utf-8" }));
  };
  const { decisions, tokens, sum, absolute, flips } = figures;
  return (
    <>
      <p className="changes-note" data-testid="changes-facts">
        {decisions} of {countOf(total, "decision")}
        {changes.episode === null ? "" : ` of ${shownName(changes.episode, 80)}`}
        {` with ${shownName(changes.teacher.model)} (${changes.teacher.dtype})`}
        {finished ? "" : busy ? ", and going on" : ", then it was stopped"}: {countOf(tokens, "token")}
        {tokens > 0 && (
          <>
            , mean Δ {nats(sum / tokens, true)}, mean |Δ| {nats(absolute / tokens)}, most probable token flips{" "}
            {flips === null
              ? "not told by this engine"
              : `at ${((100 * flips) / tokens).toFixed(1)}% (${flips.toLocaleString("en")})`}
          </>
        )}
        . {tokens > rows.length && `The table has the ${rows.length.toLocaleString("en")} largest of them. `}
        {skipped.length > 0 &&
          `${countOf(skipped.length, "decision")} not scored; the first: decision ${skipped[0]!.decision} of ${shownName(skipped[0]!.episode, 80)}, ${shownName(skipped[0]!.reason, 500)}.`}
      </p>
      {tokens > 0 && (
        <div className="changes-panes">
          <MeanByPosition
            figures={figures}
            last={POSITIONS - 1}
            fileName={`${safeName(changes.task)}-mean-by-position`}
            caption={`Task ${shownName(changes.task)} (${shownName(changes.environment)}), ${changes.episode === null ? "all episodes" : shownName(changes.episode)}: ${countOf(decisions, "decision")}, ${countOf(tokens, "token")}. Teacher ${shownName(changes.teacher.model)} (${changes.teacher.dtype}); evidence: ${changes.evidence}.`}
          />
          <div>
            <TokenGrid
              className="changes-scroll"
              label="Largest changes"
              leads
              rowCount={sorted.length + 1}
              ref={scroller}
            >
              <thead>
                <tr aria-rowindex={1}>
                  {COLUMNS.map(({ sort: by, title, numeric }) => (
                    <th
                      key={title}
                      scope="col"
                      className={numeric ? "number" : ""}
                      aria-sort={by === sort ? (descending ? "descending" : "ascending") : undefined}
                    >
                      {by === null ? (
                        title
                      ) : (
                        <button
                          type="button"
                          className="plain"
                          onClick={() =>
                            navigate({
                              changesSort: by,
                              changesDescending: by === sort ? !descending : numeric,
                            })
                          }
                        >
                          {title}
                          <span aria-hidden="true">{by === sort ? (descending ? " ▾" : " ▴") : ""}</span>
                        </button>
                      )}
                    </th>
                  ))}
                </tr>
              </thead>
              <Rows rows={sorted} order={`${sort} ${descending}`} scroller={scroller} />
            </TokenGrid>
            <div className="left-out-tools">
              <button type="button" onClick={save}>
                Save these {sorted.length.toLocaleString("en")} rows as CSV
              </button>
            </div>
          </div>
        </div>
      )}
    </>
  );
}

/** Opens a token of another decision, and brings its strip into sight once it is there. */
function goToToken({ episode, decision, position }: ChangeRow): void {
  navigate({ episode, decision, token: position, visit: null, part: null }, "push");
  const isThere = (ui: UiState): boolean =>
    ui.decision?.episode === episode && ui.decision.decision === decision;
  const show = (): void => {
    requestAnimationFrame(() => document.getElementById("tokens-title")?.scrollIntoView({ block: "start" }));
  };
  if (isThere(getUi())) {
    show();
    return;
  }
  const leave = useUi.subscribe((ui) => {
    const elsewhere = ui.place.episode !== episode || ui.place.decision !== decision;
    if (!elsewhere && !isThere(ui)) return;
    leave();
    if (!elsewhere) show();
  });
}

function Rows({
  rows,
  order,
  scroller,
}: {
  rows: ReturnType<typeof sortChanges>;
  /** Another order starts at its top; more rows of the same do not. */
  order: string;
  scroller: RefObject<HTMLElement | null>;
}) {
  const { first, end, before, after } = useRowWindow(scroller, rows, ROW_HEIGHT, order);
  const tabStop = useTabStop(first, end);
  const body = useRef<HTMLTableSectionElement>(null);
  /** The row that is to take the focus once it is in the document. */
  const wanted = useRef<number | null>(null);
  const reach = (): void => {
    if (wanted.current === null) return;
    const row = body.current?.querySelector(`tr[aria-rowindex="${wanted.current + 2}"]`);
    row?.querySelector("button")?.focus();
    if (row) wanted.current = null;
  };
  useLayoutEffect(reach);
  // The grid knows the rows in sight; the first and the last of all may be far away.
  const toEnds = (event: KeyboardEvent): void => {
    const to = { Home: 0, End: rows.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    wanted.current = to;
    scroller.current?.scrollTo({ top: to === 0 ? 0 : scroller.current.scrollHeight });
    reach();
  };
  return (
    <tbody ref={body} onKeyDown={toEnds}>
      {before > 0 && <Spacer height={before} />}
      {rows.slice(first, end).map((row, i) => {
        const { episode, decision, position, text, vanilla, graph, delta, flips } = row;
        return (
          <tr key={`${episode} ${decision} ${position}`} aria-rowindex={first + i + 2}>
            <td>
              <Name>{shownName(episode, 80)}</Name>, {decision}
            </td>
            <th scope="row">
              <button
                type="button"
                {...tabStop(first + i)}
                className="plain link"
                aria-label={`${shortToken(text)}, token ${position} of decision ${decision} of ${shownName(episode, 80)}`}
                onClick={() => goToToken(row)}
              >
                <bdi>
                  <code>{shortToken(text)}</code>
                </bdi>{" "}
                <span className="note">#{position}</span>
              </button>
            </th>
            <td className="number">{probability(vanilla)}</td>
            <td className="number">{probability(graph)}</td>
            <td className="number">{nats(delta, true)}</td>
            <td className="number">{nats(Math.abs(delta))}</td>
            <td>{flips === null ? "–" : flips ? "▾ flips" : ""}</td>
          </tr>
        );
      })}
      {after > 0 && <Spacer height={after} />}
    </tbody>
  );
}

/** In place of rows that are out of sight. */
function Spacer({ height }: { height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a table row without tabindex takes no focus
    <tr aria-hidden="true" className="spacer" style={{ height }}>
      <td colSpan={COLUMNS.length} />
    </tr>
  );
}
