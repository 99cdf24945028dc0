/** What is set about the table of runs: groups, the tags to filter by, and whether all differing keys are columns. */

import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { Run } from "../../compute/runs/run.ts";
import { useTags } from "../../compute/runs/run-tags.ts";
import { useUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { columnsFor, useAllColumns, withTags } from "./run-table.ts";

/** Columns in which every run has a value of its own: grouping by them says nothing. */
const UNGROUPED: readonly string[] = ["run", "steps", "loss", "started"];

export function TableControls({ runs }: { runs: readonly Run[] }) {
  const group = useUi((ui) => ui.place.runsGroup);
  const wanted = useUi((ui) => ui.place.runsTags);
  const all = useAllColumns((state) => state.all);
  const tags = useTags((state) => state.tags);
  const known = [...new Set([...runs.flatMap(({ id }) => tags[id] ?? []), ...wanted])].sort();
  const shown = withTags(runs, wanted, tags);
  const { columns, left } = columnsFor(shown, all);
  if (runs.length < 2 && known.length === 0) return null;
  return (
    <>
      <h3>Table</h3>
      <label>
        Group by{" "}
        <select value={group} onChange={({ target }) => navigate({ runsGroup: target.value })}>
          <option value="">nothing</option>
          <option value="config">config, whatever the seed</option>
          <option value="tag">tag</option>
          {columns
            .filter(({ key }) => !UNGROUPED.includes(key))
            .map(({ key, title }) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
        </select>
      </label>
      {known.length > 0 && (
        <fieldset className="tag-filter">
          <legend>Tags</legend>
          {known.map((tag) => (
            <button
              key={tag}
              type="button"
              aria-pressed={wanted.includes(tag)}
              onClick={() =>
                navigate({
                  runsTags: wanted.includes(tag) ? wanted.filter((each) => each !== tag) : [...wanted, tag],
                })
              }
            >
              <bdi>{shownName(tag)}</bdi>
            </button>
          ))}
        </fieldset>
      )}
      {(left > 0 || all) && (
        <button type="button" onClick={() => useAllColumns.setState({ all: !all })}>
          {all ? "Fewer columns" : `${countOf(left, "further column")}`}
        </button>
      )}
      {wanted.length > 0 && (
        <span className="note" role="status">
          {shown.length} of {countOf(runs.length, "run")}
        </span>
      )}
    </>
  );
}
