/** All runs of the page and of the worker: what they are, what sets them apart, and what can be done with each. */
import { Fragment } from "react";
import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { takenBackText, useTakenBack } from "../../compute/models/taken-back.ts";
import { useChartOptions } from "../../compute/run-card/chart-options.ts";
import { RunButtons } from "../../compute/run-card/run-buttons.tsx";
import { leftText, RunStateLine } from "../../compute/run-card/run-state.tsx";
import { MOST_CURVES, numberOf, type Series, seriesOf } from "../../compute/run-card/series.ts";
import type { Run } from "../../compute/runs/run.ts";
import { useTags } from "../../compute/runs/run-tags.ts";
import { useUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { formatPlace } from "../../url/link.ts";
import { MOST_RUNS } from "../../url/place.ts";
import { runPolicy } from "./run-policy.ts";
import {
  type Column,
  columnsFor,
  type Group,
  groupRuns,
  sortRuns,
  useAllColumns,
  withTags,
} from "./run-table.ts";
import { RunTags } from "./run-tags.tsx";

/** The runs on the charts with some more; the oldest curves make room where there are too many. */
function withCharted(charted: readonly Run[], more: readonly Run[], averaged: boolean): string[] {
  const all = [...charted, ...more.filter((run) => !charted.includes(run))].slice(-MOST_RUNS);
  return seriesOf(all, averaged)
    .slice(-MOST_CURVES)
    .flat()
    .map(({ id }) => id);
}

export function RunList({ runs }: { runs: readonly Run[] }) {
  const charted = useUi((ui) => ui.place.charted);
  const averaged = useChartOptions((options) => options.averaged);
  const order = useUi((ui) => ui.place.runsSort);
  const by = useUi((ui) => ui.place.runsGroup);
  const wanted = useUi((ui) => ui.place.runsTags);
  const all = useAllColumns((state) => state.all);
  const descending = order.startsWith("-");
  const tags = useTags((state) => state.tags);
  const shown = withTags(runs, wanted, tags);
  const { columns } = columnsFor(shown, all);
  const sorter = columns.find(({ key }) => key === order.replace(/^-/, "")) ?? columns.at(-1)!;
  const groups = groupRuns(sortRuns(shown, sorter, descending), by, columns, tags);
  const onChart = charted.flatMap((id) => runs.find((run) => run.id === id) ?? []);
  const series = seriesOf(onChart, averaged);
  const chart = (more: readonly Run[], on: boolean): void =>
    navigate({
      charted: on
        ? withCharted(onChart, more, averaged)
        : charted.filter((id) => !more.some((run) => run.id === id)),
    });
  return (
    <div className="run-table-scroll edge-shadows">
      <table className="run-table" data-testid="run-list">
        <thead>
          <tr>
            <th scope="col">chart</th>
            {columns.map((column) => (
              <SortHeader
                key={column.key}
                column={column}
                sorted={column === sorter}
                descending={descending}
              />
            ))}
            <th scope="col" className="in-sight">
              <span className="hidden-visually">what can be done</span>
            </th>
          </tr>
        </thead>
        {groups.map((group) => (
          <tbody key={group.key}>
            {by !== "" && (
              <GroupRow group={group} columns={columns.length + 2} charted={charted} onChart={chart} />
            )}
            {group.runs.map((run) => (
              <RunRow
                key={run.id}
                run={run}
                columns={columns}
                place={placeOf(series, run)}
                onChart={(on) => chart([run], on)}
              />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

const placeOf = (series: readonly Series[], run: Run): number =>
  series.findIndex((runs) => runs.includes(run));

function SortHeader({
  column: { key, title, isNumber },
  sorted,
  descending,
}: {
  column: Column;
  sorted: boolean;
  descending: boolean;
}) {
  return (
    <th
      scope="col"
      className={isNumber ? "number" : ""}
      aria-sort={sorted ? (descending ? "descending" : "ascending") : undefined}
    >
      <button
        type="button"
        className="plain sorter"
        onClick={() => navigate({ runsSort: `${sorted && !descending ? "-" : ""}${key}` })}
      >
        {title}
        <span aria-hidden="true" className="order">
          {sorted ? (descending ? " ▾" : " ▴") : ""}
        </span>
      </button>
    </th>
  );
}

/** What the runs of a group have in common, and all of them onto the charts at once. */
function GroupRow({
  group: { title, runs },
  columns,
  charted,
  onChart,
}: {
  group: Group;
  columns: number;
  charted: readonly string[];
  onChart: (runs: readonly Run[], on: boolean) => void;
}) {
  const count = runs.filter(({ id }) => charted.includes(id)).length;
  return (
    <tr className="run-group">
      <th scope="rowgroup" colSpan={columns}>
        <label>
          <input
            type="checkbox"
            checked={count === runs.length}
            ref={(box) => {
              if (box !== null) box.indeterminate = count > 0 && count < runs.length;
            }}
            onChange={({ target }) => onChart(runs, target.checked)}
            aria-label={`${shownName(title)}: all on the chart`}
          />{" "}
          <bdi>{shownName(title)}</bdi>
        </label>{" "}
        <span className="note">{countOf(runs.length, "run")}</span>
      </th>
    </tr>
  );
}

function RunRow({
  run,
  columns,
  place,
  onChart,
}: {
  run: Run;
  columns: readonly Column[];
  /** Of its curve on the chart; -1 where it has none. */
  place: number;
  onChart: (on: boolean) => void;
}) {
  const shown = useUi((ui) => ui.place.run);
  const isCharted = useUi((ui) => ui.place.charted.includes(run.id));
  return (
    <tr aria-current={shown === run.id ? "true" : undefined} data-run={run.id}>
      <td>
        <label className={place < 0 ? "" : `run-series run-${place}`}>
          <input
            type="checkbox"
            checked={isCharted}
            onChange={({ target }) => onChart(target.checked)}
            aria-label={`${shownName(run.title)}, ${run.id}, on the chart`}
          />{" "}
          <b>{place < 0 || place >= MOST_CURVES ? "" : numberOf(place)}</b>
        </label>
      </td>
      {columns.map((column) => (
        <Fragment key={column.key}>
          <Cell run={run} column={column} />
        </Fragment>
      ))}
      <td className="in-sight">
        <RunButtons run={run} />
      </td>
    </tr>
  );
}

function Cell({ run, column: { key, text, short, isNumber } }: { run: Run; column: Column }) {
  if (key === "run") return <NameCell run={run} />;
  if (key === "state") return <StateCell run={run} />;
  return (
    <td className={isNumber ? "number" : ""} title={short && shownName(text(run), 1000)}>
      {key === "started" ? (
        <span data-measured>{text(run)}</span>
      ) : (
        shownName((short ?? text)(run) || "–", 80)
      )}
    </td>
  );
}

function NameCell({ run }: { run: Run }) {
  const place = useUi((ui) => ui.place);
  return (
    <th scope="row">
      <a
        href={formatPlace({ ...place, view: "runs", run: run.id })}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return;
          event.preventDefault();
          navigate({ view: "runs", run: run.id }, "push");
        }}
      >
        <bdi>{shownName(run.title)}</bdi>
      </a>
      <div className="note">{[run.id, runPolicy(run)].filter(Boolean).join(" · ")}</div>
      <RunTags run={run} />
    </th>
  );
}

function StateCell({ run }: { run: Run }) {
  const takenBack = useTakenBack((taken) => taken[run.id]);
  return (
    <td>
      <RunStateLine run={run} />
      <div className="note">{leftText(run) || (run.message !== null && shownName(run.message, 500))}</div>
      {takenBack !== undefined && <div className="note">{takenBackText(takenBack)}</div>}
    </td>
  );
}
