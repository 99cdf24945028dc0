/** The open libraries beside each other, each with its headline figures; shown where there is one that is not on the screen. */

import { Scroller } from "../../base/scroller.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { libraryNames } from "../../data/open-libraries.ts";
import { gigabytes } from "../hub/hub.ts";
import { useUi } from "../store.ts";
import { headline } from "./internal/headline.ts";
import { closeProblem, openLibraries } from "./libraries.ts";

const share = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${Math.round((100 * part) / whole)} %`;

const NOT_COUNTED = "Known once the states of all its tasks are counted";

export function LibrariesTable() {
  const libraries = useUi((ui) => ui.libraries);
  const shown = useUi((ui) => ui.library);
  if (!libraries.some(({ summary }) => summary !== shown)) return null;
  const names = libraryNames(libraries);
  return (
    <Scroller className="panel libraries" label="Open libraries">
      <table data-testid="libraries">
        <caption>
          Open libraries <span className="key">l</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">Library</th>
            <th scope="col" className="number">
              Tasks
            </th>
            <th scope="col" className="number">
              Executions
            </th>
            <th scope="col" className="number">
              Succeeded
            </th>
            <th scope="col" className="number">
              Episodes (won)
            </th>
            <th scope="col" className="number">
              Decisions matched
            </th>
            <th scope="col" className="number">
              Size
            </th>
            <th scope="col">
              <span className="hidden-visually">Close</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {libraries.map(({ summary, columns }) => {
            const name = names.get(summary.id)!;
            const { sources, successes, episodes, won, decisions, matched } = headline(summary, columns);
            return (
              <tr key={summary.id} aria-current={summary === shown ? "true" : undefined}>
                <th scope="row" className="libraries-name">
                  <button
                    type="button"
                    className={summary === shown ? "plain libraries-shown" : "plain"}
                    title={summary.files.map((file) => shownName(file.name)).join("\n")}
                    onClick={() => openLibraries.show(summary.id)}
                  >
                    <bdi>{name}</bdi>
                  </button>
                  {summary === shown && <span className="note"> shown</span>}
                </th>
                <td className="number">{summary.tasks.length.toLocaleString("en")}</td>
                <td className="number">{sources.toLocaleString("en")}</td>
                <td className="number">{share(successes, sources)}</td>
                <td className="number">
                  {episodes.toLocaleString("en")} ({won.toLocaleString("en")})
                </td>
                <td className="number" title={matched === null ? NOT_COUNTED : undefined}>
                  {matched === null ? "–" : share(matched, decisions)}
                </td>
                <td className="number">{gigabytes(summary.bytes)}</td>
                <td>
                  <CloseButton id={summary.id} name={name} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroller>
  );
}

function CloseButton({ id, name }: { id: string; name: string }) {
  const problem = useUi((ui) => closeProblem(ui, id));
  return (
    <button
      type="button"
      className="libraries-close"
      disabled={problem !== null}
      title={problem ?? "Undo brings it back as it was"}
      aria-label={`Close ${name}`}
      onClick={() => openLibraries.close(id)}
    >
      Close
    </button>
  );
}
