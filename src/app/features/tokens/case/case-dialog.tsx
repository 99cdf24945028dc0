/** The table in the shape of the paper's case study, to copy and to save: a native dialog, so that focus behaves. */
import { useEffect, useMemo, useRef, useState } from "react";
import { safeName } from "../../../base/export/safe-name.ts";
import {
  copyPicture,
  copySvg,
  PICTURE_FORMATS,
  type PictureFormat,
  savePicture,
} from "../../../base/export/save-picture.ts";
import { canvasMeasure } from "../../../base/export/svg-text.ts";
import { nats, percent, shortToken } from "../../../base/format.ts";
import { saveFile } from "../../../base/save-file.ts";
import { Scroller } from "../../../base/scroller.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { type TokenScores, useUi } from "../../../compute/store.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { type Compared, STANDARD } from "../comparison.ts";
import { caseCsv, caseLatex, caseMarkdown } from "./case-formats.ts";
import { setCaseOpen, useCaseOpen } from "./case-open.ts";
import { casePicture } from "./case-picture.ts";
import {
  CASE_SIZES,
  type CaseSides,
  type CaseSize,
  type CaseTable,
  caseTable,
  contextLine,
} from "./case-table.ts";

const FORMATS = { Markdown: caseMarkdown, LaTeX: caseLatex, CSV: caseCsv } as const;
type Format = keyof typeof FORMATS;

export function CaseDialog({
  decision,
  scores,
  compared,
  evidence,
}: {
  decision: DecisionModel;
  scores: TokenScores;
  compared: Compared;
  /** The full method, or what differs from it, in words. */
  evidence: string;
}) {
  const open = useCaseOpen((state) => state.open);
  const dialog = useRef<HTMLDialogElement>(null);
  const [size, setSize] = useState<CaseSize>(10);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (open && !dialog.current?.open) {
      setSaid("");
      dialog.current?.showModal();
    }
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  // Another decision, or none that is scored, has another table.
  useEffect(() => () => setCaseOpen(false), []);
  const table = useMemo(
    () => caseTable(decision, evidence, scores, size, chosenSides(compared)),
    [decision, evidence, scores, size, compared],
  );
  const copy = async (format: Format): Promise<void> => {
    try {
      await navigator.clipboard.writeText(FORMATS[format](table));
      setSaid(`Copied ${table.rows.length} rows as ${format}.`);
    } catch {
      setSaid("The browser does not let this page write to the clipboard: download the CSV instead.");
    }
  };
  const files = useUi((ui) => ui.library?.files);
  const draw = () =>
    casePicture(
      table,
      (files ?? []).map((file) => file.name),
      canvasMeasure(),
    );
  const save = async (format: PictureFormat): Promise<void> =>
    setSaid(await savePicture(draw(), format, decisionFileName(decision)));
  const download = (): void => {
    const name = `${decisionFileName(decision)}.csv`;
    saveFile(name, new Blob([caseCsv(table)], { type: "text/csv;charset=utf-8" }));
    setSaid(`Saved ${name}.`);
  };
  return (
    <dialog
      ref={dialog}
      className="help case-study"
      data-dialog="case"
      aria-labelledby="case-title"
      onClose={() => setCaseOpen(false)}
    >
      <header>
        <h2 id="case-title">Case study</h2>
        <button type="button" onClick={() => setCaseOpen(false)}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      <div className="case-tools">
        <label>
          Rows{" "}
          <select
            value={String(size)}
            onChange={(event) =>
              setSize(event.target.value === "whole" ? "whole" : Number(event.target.value))
            }
          >
            {CASE_SIZES.map((each) => (
              <option key={each} value={String(each)}>
                {each === "whole" ? `whole response (${scores.ids.length})` : `${each} largest changes`}
              </option>
            ))}
          </select>
        </label>
        {(Object.keys(FORMATS) as Format[]).map((format) => (
          <button key={format} type="button" onClick={() => void copy(format)}>
            Copy as {format}
          </button>
        ))}
        <button type="button" onClick={download}>
          Download CSV
        </button>
        {PICTURE_FORMATS.map((format) => (
          <button key={format} type="button" onClick={() => void save(format)}>
            Download {format}
          </button>
        ))}
        <button type="button" onClick={() => void copySvg(draw()).then(setSaid)}>
          Copy as SVG
        </button>
        <button type="button" onClick={() => void copyPicture(draw()).then(setSaid)}>
          Copy as image
        </button>
        <span className="note" role="status">
          {said}
        </span>
      </div>
      <p className="note case-context" data-testid="case-context">
        {contextLine(table).map((part, i) => {
          if (typeof part === "string") return part;
          // biome-ignore lint/suspicious/noArrayIndexKey: the line's parts have no other name
          if ("words" in part) return <bdi key={i}>{shownName(part.words, 500)}</bdi>;
          // biome-ignore lint/suspicious/noArrayIndexKey: the line's parts have no other name
          return "name" in part ? <code key={i}>{shortToken(part.name)}</code> : nats(part.nats, true);
        })}
      </p>
      {open && <Rows table={table} />}
    </dialog>
  );
}

/** Other sides than the paper's two, where their tokens are the same. */
function chosenSides({ base, side, deltas }: Compared): CaseSides | null {
  const paper = base.key === STANDARD.base && side.key === STANDARD.side;
  return paper || deltas === null ? null : { base, side };
}

function Rows({ table }: { table: CaseTable }) {
  const student = table.context.student !== null;
  return (
    <Scroller className="token-table case-table" label="Case study in figures">
      <table>
        <thead>
          <tr>
            <th scope="col" className="number">
              #
            </th>
            <th scope="col">token</th>
            {table.headings.map((heading) => (
              <th key={heading} scope="col" className="number">
                {shownName(heading)}
              </th>
            ))}
            {student && (
              <th scope="col" className="number">
                student
              </th>
            )}
            <th scope="col" className="number">
              Δ log p
            </th>
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr key={row.position}>
              <td className="number">{row.position}</td>
              <th scope="row">
                <bdi>
                  <code>{shortToken(row.token)}</code>
                </bdi>
              </th>
              <td className="number">{percent(row.vanilla)}</td>
              <td className="number">{percent(row.graph)}</td>
              {student && <td className="number">{row.student === null ? "" : percent(row.student)}</td>}
              <td className="number">{nats(row.delta, true)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

/** `melt_12_easy-e-17-4`: without what file systems do not take, and without an ending. */
export function decisionFileName({ task, episode, decision }: DecisionModel): string {
  return `${safeName(task)}-${safeName(episode)}-${decision}`;
}
