/**
 * The whole episode, a cell for each decision: where records are found, and where they move the teacher. Arrow keys and
 * the pointer choose the decision.
 */
import { type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from "react";
import { useUi } from "../../compute/store.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { Execution, RetainedRelations, TaskModel } from "../../data/model.ts";
import { goToDecision } from "../../data/navigate.ts";
import { scoreKey } from "../../data/score-key.ts";
import { ofTask, selectionOf } from "../../url/what-if.ts";
import { outcomeWords } from "./inspector/retained.ts";
import { KIND_TITLES, MATCH_KINDS, type TimelineCell, timelineCells } from "./timeline.ts";

/** So many cells fit into any window; asking whether more do would lay the page out with each step. */
const FITS = 140;

export function Timeline({
  task,
  episode,
  decision,
}: {
  task: TaskModel;
  episode: Execution;
  decision: number;
}) {
  const list = useRef<HTMLDivElement>(null);
  const cells = useTimeline(task, episode);
  const most = Math.max(0, ...(cells?.map(({ change }) => change ?? 0) ?? []));
  const scored = cells?.some(({ change }) => change !== null) ?? false;
  const others = (["failure", "unknown"] as const).filter((other) =>
    cells?.some(({ outcome }) => outcome === other),
  );

  useEffect(() => {
    // A long episode is wider than the window: what is chosen stays in sight, and nothing else moves.
    const { current: scroller } = list;
    const cell = scroller?.children[decision];
    if (scroller == null || !(cell instanceof HTMLElement) || episode.decisions <= FITS) return;
    const [left, right] = [cell.offsetLeft, cell.offsetLeft + cell.offsetWidth];
    if (left < scroller.scrollLeft || right > scroller.scrollLeft + scroller.clientWidth)
      scroller.scrollLeft = left - scroller.clientWidth / 2;
  }, [decision, episode]);

  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = episode.decisions - 1;
    const to = {
      ArrowLeft: Math.max(0, decision - 1),
      ArrowRight: Math.min(last, decision + 1),
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    goToDecision(to);
    const cell = list.current?.children[to];
    if (cell instanceof HTMLElement) cell.focus();
  };

  return (
    <div className="timeline">
      <div
        ref={list}
        className={`timeline-cells${scored ? " measured-episode" : ""}`}
        role="listbox"
        aria-label="Timeline of the episode"
        aria-orientation="horizontal"
        onKeyDown={press}
      >
        {Array.from({ length: episode.decisions }, (_, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the decision is
          <Cell key={i} decision={i} cell={cells?.[i] ?? null} most={most} selected={i === decision} />
        ))}
      </div>
      <p className="timeline-legend note">
        {MATCH_KINDS.map((kind) => (
          <span key={kind}>
            <span
              className={`timeline-swatch ${kind} ${kind === "none" ? "" : "success"}`}
              aria-hidden="true"
            />
            {KIND_TITLES[kind]}
          </span>
        ))}
        {others.map((outcome) => (
          <span key={outcome}>
            <span className={`timeline-swatch current ${outcome}`} aria-hidden="true" />
            only a {outcomeWords(outcome, "record")}
          </span>
        ))}
        <span>{scored ? `height: mean |Δ|, up to ${most.toFixed(2)} nats` : "height: |Δ|, once scored"}</span>
      </p>
    </div>
  );
}

const Cell = memo(function Cell({
  decision,
  cell,
  most,
  selected,
}: {
  decision: number;
  cell: TimelineCell | null;
  /** The largest change of the episode. */
  most: number;
  selected: boolean;
}) {
  const change = cell?.change ?? null;
  const label = cell?.label ?? `Decision ${decision}`;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
    <div
      role="option"
      className="timeline-cell"
      tabIndex={selected ? 0 : -1}
      aria-selected={selected}
      aria-label={label}
      title={label}
      onClick={() => goToDecision(decision)}
    >
      <span
        className={
          cell === null ? "" : `${cell.kind} ${cell.outcome ?? ""}${change === null ? "" : " measured"}`
        }
        style={change === null || most === 0 ? undefined : { height: `${15 + (85 * change) / most}%` }}
      />
    </div>
  );
});

/** The cells under the controls of the place; null until they are read. What was changed by hand is of one decision only. */
function useTimeline(task: TaskModel, episode: Execution): TimelineCell[] | null {
  const scores = useUi((ui) => ui.scores);
  const endOfTurn = useUi((ui) => ui.place.endOfTurn);
  const asked = useUi((ui) => JSON.stringify(selectionOf(ofTask(ui.place))));
  const [read, setRead] = useState<{ of: string; retained: readonly RetainedRelations[] } | null>(null);
  const { library, environment, task: name } = task;
  const { id } = episode;
  const key = JSON.stringify([library, environment, name, id, asked]);
  useEffect(() => {
    let current = true;
    libraryWorker()
      .tasks.retained({ library, environment, task: name }, id, JSON.parse(asked))
      .then(
        (retained) => current && setRead({ of: key, retained }),
        // What is wrong with the task or the controls is said in the inspector.
        () => undefined,
      );
    return () => {
      current = false;
    };
  }, [library, environment, name, id, asked, key]);
  return useMemo(() => {
    if (read?.of !== key) return null;
    const selection = JSON.parse(asked);
    const of = { library, environment, task: name, episode: id, selection, endOfTurn };
    return timelineCells(episode, read.retained, (decision) => scores[scoreKey({ ...of, decision })]);
  }, [read, key, asked, library, environment, name, id, endOfTurn, episode, scores]);
}
