/** The figures that the paper prints, for the library that is shown. */
import { useState } from "react";
import {
  type DecisionStatistics,
  type LibraryStatistics,
  type StatisticsTable,
  statisticsTables,
} from "../../../core/statistics/index.ts";
import { Scroller } from "../../base/scroller.tsx";
import { LibrariesTable } from "../../compute/open/libraries-table.tsx";
import { NothingOpen } from "../../compute/open/nothing-open.tsx";
import { useUi } from "../../compute/store.ts";
import type { LibrarySummary } from "../../data/model.ts";
import { controlsOf, selectionOf, whatIfWords } from "../../url/what-if.ts";
import { AblationPanel } from "./ablation-panel.tsx";
import { BarChart } from "./bar-chart.tsx";
import { CopyButton } from "./copy-button.tsx";
import { leftOutTables } from "./left-out.ts";
import { statisticsMarkdown } from "./statistics-markdown.ts";
import { useStatistics } from "./use-statistics.ts";

export function StatisticsView() {
  const library = useUi((ui) => ui.library);
  if (library === null) return <NothingOpen />;
  return (
    <div className="statistics-page">
      <LibrariesTable />
      <OfLibrary key={library.id} library={library} />
    </div>
  );
}

function OfLibrary({ library }: { library: LibrarySummary }) {
  const [asked, setAsked] = useState<LibrarySummary | null>(null);
  if (!library.remote || asked === library) return <Counted library={library} />;
  return (
    <section className="statistics" aria-labelledby="statistics-title">
      <h2 id="statistics-title">Statistics</h2>
      <p>The figures need every record, and this library lies on a server.</p>
      <p>
        <button type="button" className="primary" onClick={() => setAsked(library)}>
          Download and count {Math.round(library.bytes / 1e6).toLocaleString("en")} MB
        </button>
      </p>
    </section>
  );
}

function Counted({ library }: { library: LibrarySummary }) {
  const place = useUi((ui) => ui.place);
  const { state, tryAgain } = useStatistics(library, selectionOf(controlsOf(place)));
  const words = whatIfWords(controlsOf(place));
  const heading = [library.title, ...words].join(" · ");
  return (
    <section className="statistics" aria-labelledby="statistics-title">
      <div className="library-head">
        <h2 id="statistics-title">Statistics</h2>
        {state.status === "done" && <CopyButton text={() => markdown(heading, state.statistics)} />}
      </div>
      {state.status === "running" && (
        <div role="status">
          <p>
            Counting: {state.done.toLocaleString("en")} of {library.tasks.length.toLocaleString("en")} tasks
          </p>
          <progress max={library.tasks.length} value={state.done} aria-label="Counting" />
        </div>
      )}
      {state.status === "failed" && (
        <p role="alert">
          {state.message}{" "}
          <button type="button" onClick={tryAgain}>
            Try again
          </button>
        </p>
      )}
      {state.status === "done" && <Shown statistics={state.statistics} library={library} />}
    </section>
  );
}

const tablesOf = (statistics: LibraryStatistics): StatisticsTable[] => [
  ...statisticsTables(statistics),
  ...leftOutTables(statistics),
];

const markdown = (heading: string, statistics: LibraryStatistics): string =>
  statisticsMarkdown(heading, tablesOf(statistics));

/** The outcome composition by its names; most libraries have no record of unknown outcome. */
const outcomesOf = ({ outcomes }: DecisionStatistics): [name: string, count: number][] => [
  ["success only", outcomes.successOnly],
  ["both", outcomes.both],
  ["failure only", outcomes.failureOnly],
  ...(outcomes.unknown === 0 ? [] : [["unknown", outcomes.unknown] satisfies [string, number]]),
  ["none", outcomes.none],
];

function Shown({ statistics, library }: { statistics: LibraryStatistics; library: LibrarySummary }) {
  const { tasks, tasksWithoutSources, recorded, graph, coverage, decisions } = statistics;
  const of = (total: number) => (count: number) => (total === 0 ? 0 : count / total);
  return (
    <>
      <p className="note" data-testid="statistics-scope">
        {graph.sources.toLocaleString("en")} of {recorded.toLocaleString("en")} recorded executions take part,
        over {tasks.toLocaleString("en")} tasks
        {tasksWithoutSources > 0 && `, ${tasksWithoutSources} of them without any`}. Coverage counts all
        recorded executions.
        {decisions === null && " No student episode is among them, so no decision is counted."}
      </p>
      <div className="statistics-charts panel">
        <BarChart
          title="Tasks with a trusted success, by K"
          groups={coverage.map((row) => (row.sourcesPerTask === null ? "all" : `K = ${row.sourcesPerTask}`))}
          series={[
            {
              name: "sampled",
              className: "bar-success",
              values: coverage.map((row) => of(tasks)(row.covered)),
            },
            {
              name: "with planner and oracle",
              className: "bar-other",
              values: coverage.map((row) => of(tasks)(row.coveredAugmented)),
            },
          ]}
        />
        {decisions !== null && (
          <>
            <BarChart
              title="Reference relations, of all decisions"
              groups={["current", "historical", "unaligned", "unverified", "none"]}
              series={(["success", "failure"] as const).map((kind) => {
                const { current, historical, unaligned, unverified, none } = decisions[kind];
                return {
                  name: kind === "success" ? "successful" : "failed",
                  className: kind === "success" ? "bar-success" : "bar-failure",
                  values: [current, historical, unaligned, unverified, none].map(of(decisions.decisions)),
                };
              })}
            />
            <BarChart
              title="Outcome composition, of all decisions"
              groups={outcomesOf(decisions).map(([name]) => name)}
              series={[
                {
                  name: "decisions",
                  className: "bar-other",
                  values: outcomesOf(decisions)
                    .map(([, count]) => count)
                    .map(of(decisions.decisions)),
                },
              ]}
            />
          </>
        )}
      </div>
      {decisions !== null && <AblationPanel library={library} />}
      <div className="statistics-tables">
        {tablesOf(statistics).map((table) => (
          <Table key={table.title} table={table} />
        ))}
      </div>
    </>
  );
}

function Table({ table: { title, head, rows, words = false } }: { table: StatisticsTable }) {
  return (
    <Scroller className="panel" label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {head.map((name, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are, and names come twice
              <th key={i} scope="col" className={i === 0 || words ? "" : "number"}>
                {name === "" ? <span className="hidden-visually">what</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...values]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {values.map((value, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
                <td key={i} className={words ? "" : "number"}>
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}
