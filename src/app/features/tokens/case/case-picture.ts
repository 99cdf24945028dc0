/** The case-study table as a picture for a paper: booktabs rules, Δ on the strip's ramp, a caption that names the decision. */
import { captionLines, framed, type Picture } from "../../../base/export/picture.ts";
import { type Measure, MONO, round, SANS, textLine } from "../../../base/export/svg-text.ts";
import { nats, percent, shortToken, visibleToken } from "../../../base/format.ts";
import { deltaColour, deltaLimit } from "../delta-colour.ts";
import { type CaseTable, contextLine } from "./case-table.ts";

const PADDING = 16;
const ROW = 20;
const SIZE = 12;
const GAP = 22;
const INSET = 6;
const INK = "#1b1d21";

/** Wider tokens are cut, with the number of characters that are left out. */
const WIDEST_TOKEN = 330;

interface Column {
  heading: string;
  cells: readonly string[];
  font: string;
  end: boolean;
}

/** What the figures are of, as one text: the line above the other formats, and where the records are from. */
export function caseCaption(table: CaseTable, files: readonly string[]): string {
  const line = contextLine(table).map((part) => {
    if (typeof part === "string") return part;
    if ("words" in part) return visibleToken(part.words).replaceAll("␣", " ");
    return "name" in part ? visibleToken(part.name).replaceAll("␣", " ") : nats(part.nats, true);
  });
  const names = files.map((name) => visibleToken(name).replaceAll("␣", " "));
  return `${line.join("")}${names.length === 0 ? "" : ` Records: ${names.join(", ")}.`}`;
}

/** The table on white. `measure` gives widths of text; a file names its fonts and embeds none. */
export function casePicture(table: CaseTable, files: readonly string[], measure: Measure): Picture {
  const { rows, context } = table;
  const column = (heading: string, cells: readonly string[], end = true, font = SANS): Column => ({
    heading,
    cells,
    font,
    end,
  });
  const columns = [
    column(
      "#",
      rows.map(({ position }) => String(position)),
    ),
    column(
      "Token",
      rows.map(({ token }) => fitted(shortToken(token), measure)),
      false,
      MONO,
    ),
    column(
      visibleToken(table.headings[0]).replaceAll("␣", " "),
      rows.map(({ vanilla }) => percent(vanilla)),
    ),
    column(
      visibleToken(table.headings[1]).replaceAll("␣", " "),
      rows.map(({ graph }) => percent(graph)),
    ),
    ...(context.student === null
      ? []
      : [
          column(
            "Student",
            rows.map(({ student }) => (student === null ? "" : percent(student))),
          ),
        ]),
    column(
      "Δ log p",
      rows.map(({ delta }) => nats(delta, true)),
    ),
  ];
  const widths = columns.map(({ heading, cells, font }) =>
    Math.max(measure(heading, SIZE, SANS) * 1.08, ...cells.map((cell) => measure(cell, SIZE, font))),
  );
  // Room for the colour around the change.
  const last = columns.length - 1;
  widths[last]! += 2 * INSET;
  const inner = widths.reduce((sum, width) => sum + width, 0) + GAP * (columns.length - 1);
  const lefts = widths.map(
    (_, i) => PADDING + widths.slice(0, i).reduce((sum, width) => sum + width + GAP, 0),
  );
  const parts: string[] = [];
  const rule = (y: number, thick: number): void => {
    parts.push(
      `<line x1="${PADDING}" x2="${round(PADDING + inner)}" y1="${y}" y2="${y}" stroke="${INK}" stroke-width="${thick}"/>`,
    );
  };
  const place = (i: number, text: string, y: number, more: Record<string, string | number>): void => {
    const { end, font } = columns[i]!;
    const x = lefts[i]! + (end ? widths[i]! : 0) - (i === last ? INSET : 0);
    const family: Record<string, string> =
      font === SANS || more["font-weight"] !== undefined ? {} : { "font-family": font };
    const anchor: Record<string, string> = end ? { "text-anchor": "end" } : {};
    parts.push(textLine(text, { x, y, size: SIZE, fill: INK, ...anchor, ...family, ...more }));
  };
  let y = PADDING;
  rule(y, 1.4);
  for (const [i, { heading }] of columns.entries()) place(i, heading, y + 15, { "font-weight": 600 });
  y += ROW + 2;
  rule(y, 0.8);
  const colour = deltaColour(deltaLimit(rows.map(({ delta }) => delta)));
  for (const [at, { delta }] of rows.entries()) {
    const top = y + 2 + at * ROW;
    parts.push(
      `<rect x="${round(lefts[last]!)}" y="${top}" width="${round(widths[last]!)}" height="${ROW - 2}" ` +
        `rx="3" fill="${colour(delta)}"/>`,
    );
    for (const [i, { cells }] of columns.entries())
      place(i, cells[at]!, top + 13, { ...(i === 1 ? { "unicode-bidi": "isolate" } : {}) });
  }
  y += 4 + rows.length * ROW;
  rule(y, 1.4);
  const foot = captionLines(caseCaption(table, files), { x: PADDING, y: y + 18, width: inner, measure });
  parts.push(foot.svg);
  return framed(parts, inner + 2 * PADDING, foot.end + PADDING - 4);
}

/** As much of a token as has room, and how much more there is. */
function fitted(text: string, measure: Measure): string {
  if (measure(text, SIZE, MONO) <= WIDEST_TOKEN) return text;
  const characters = [...text];
  const most = Math.floor(WIDEST_TOKEN / measure("m", SIZE, MONO)) - 12;
  return `${characters.slice(0, most).join("")}…⟨${(characters.length - most).toLocaleString("en")} more⟩`;
}
