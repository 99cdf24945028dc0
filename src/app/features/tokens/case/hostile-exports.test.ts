/** What records hold comes out of every format as the same text, by readers that know nothing of the writers. */

import { marked } from "marked";
import Papa from "papaparse";
import { describe, expect, it } from "vitest";
import { EVERYTHING, HOSTILE_TEXTS, hostileText, LONG_TOKEN } from "../../../../../test/support/hostile.ts";
import { readXml } from "../../../../../test/support/plain-xml.ts";
import fc from "../../../../../test/support/property.ts";
import { computedOn, scoredSide } from "../../../../../test/support/token-scores.ts";
import { captionLines, framed } from "../../../base/export/picture.ts";
import { roughly, textLine } from "../../../base/export/svg-text.ts";
import { shortToken, visibleToken } from "../../../base/format.ts";
import type { ChangeRow } from "../changes/change-collector.ts";
import { changesCsv } from "../changes/change-table.ts";
import type { Changes } from "../changes/changes.ts";
import { caseCsv, caseLatex, caseMarkdown, latexCode } from "./case-formats.ts";
import { casePicture } from "./case-picture.ts";
import { type CaseTable, caseTable } from "./case-table.ts";

const TEACHER = {
  model: "",
  device: "webgpu",
  adapter: "a",
  dtype: "f32",
  parameters: 1,
  vocabulary: 2,
} as const;

/** A table in which every name and every token is the given text, and every log-probability negative. */
function tableOf(pieces: string[], name: string): CaseTable {
  const side = (key: string, label: string, first: number) => {
    const logprobs = pieces.map((_, i) => first - i);
    return computedOn(scoredSide(key, logprobs, { label }), { ...TEACHER, model: name });
  };
  const [base, graph] = [side("vanilla", name, -1), side("graph", "side", -2)];
  const scores = { pieces, ids: pieces.map((_, i) => i), sides: [base, graph] };
  const decision = { environment: name, task: name, episode: name, decision: 4 };
  return caseTable(decision, name, scores, "whole", { base, side: graph });
}

const pieces = fc.array(hostileText, { minLength: 1, maxLength: 4 });
const spaced = (text: string): string => visibleToken(text).replaceAll("␣", " ");

/** What a browser shows of a piece of HTML without scripts. */
function shownHtml(html: string): string {
  const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return html
    .replace(/<[^>]*>/g, "")
    .replace(/&(?:#(\d+)|(\w+));/g, (_, code?: string, name?: string) =>
      code === undefined ? entities[name!]! : String.fromCodePoint(Number(code)),
    );
}

const LATEX: Record<string, string> = {
  textbackslash: "\\",
  textasciitilde: "~",
  textasciicircum: "^",
  textquotesingle: "'",
  textasciigrave: "`",
  textvisiblespace: "␣",
  char34: '"',
  textless: "<",
  textgreater: ">",
  textbar: "|",
};
const MATHS: Record<string, string> = {
  "\\hookleftarrow": "↵",
  "\\mapsto": "⇥",
  "\\emptyset": "∅",
  "\\Delta\\log p": "Δ log p",
};

/** What TeX prints of text in which nothing but known commands may stand. Throws at any other special character. */
function shownTex(tex: string): string {
  let shown = "";
  for (let rest = tex; rest !== ""; ) {
    const [whole, escaped, command, maths, plain] =
      /^(?:\\([{}$&#%_])|\\(textbackslash|text\w+|char34)\{\}|\$([^$]*)\$|([^\\{}$&#%_^~])|\{\})/u.exec(
        rest,
      ) ?? [];
    if (whole === undefined) throw new Error(`TeX takes this for a command: ${rest.slice(0, 40)}`);
    if (maths !== undefined && MATHS[maths] === undefined) throw new Error(`maths: ${maths}`);
    shown +=
      escaped ??
      (command === undefined ? (maths === undefined ? (plain ?? "") : MATHS[maths]) : LATEX[command]);
    rest = rest.slice(whole.length);
  }
  return shown;
}

describe("Markdown", () => {
  it("shows every token, name and heading as its text, in the rows and columns of the table", () => {
    fc.assert(
      fc.property(pieces, hostileText, (tokens, name) => {
        const html = marked.parse(caseMarkdown(tableOf(tokens, name)), { async: false, gfm: true });
        const cells = (tag: string): string[] =>
          [...html.matchAll(new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, "gs"))].map(([, cell]) =>
            shownHtml(cell!),
          );
        const body = cells("td");
        expect(body).toHaveLength(5 * tokens.length);
        expect(body.filter((_, i) => i % 5 === 1)).toEqual(tokens.map(visibleToken));
        expect(cells("th")[2]!.toLowerCase()).toBe(spaced(name).trim().toLowerCase());
        const line = shownHtml(/<p>(.*?)<\/p>/s.exec(html)![1]!);
        expect(line.startsWith(`Task ${visibleToken(name)} (${visibleToken(name)}), episode `)).toBe(true);
        expect(html).not.toMatch(/<(?!\/?(p|code|table|thead|tbody|tr|t[hd]( align="\w+")?)>)/);
      }),
    );
  });
});

describe("LaTeX", () => {
  it("prints every token as its text, whatever TeX takes for a command", () => {
    fc.assert(
      fc.property(hostileText, (token) => {
        const [, inside] = /^\\texttt\{(.*)\}$/s.exec(latexCode(token))!;
        expect(shownTex(inside!)).toBe(visibleToken(token));
      }),
    );
  });
  it("has a row per token, and a line of words that prints as it is", () => {
    fc.assert(
      fc.property(pieces, hostileText, (tokens, name) => {
        const lines = caseLatex(tableOf(tokens, name)).trimEnd().split("\n");
        // Comment, line, begin, two rules and the heading before the rows; a rule and the end after them.
        expect(lines).toHaveLength(8 + tokens.length);
        for (const line of lines.slice(6, -2)) expect(line.split(/(?<!\\)&/)).toHaveLength(5);
        const heading = lines[4]!.split(/ (?<!\\)& /)[2]!;
        expect(shownTex(heading).toLowerCase()).toBe(spaced(name).toLowerCase());
        const words = /; evidence: (.*)\. (?:All|The) /s.exec(lines[1]!)![1]!;
        expect(shownTex(words)).toBe(spaced(name));
      }),
    );
  });
});

/** Every way in which a spreadsheet knows a formula; figures are none. */
const formula = (cell: string): boolean =>
  /^[=+\-@\t\r\n＝＋－＠]/.test(cell) && !Number.isFinite(Number(cell));

function readCsv(text: string): Record<string, string>[] {
  const { data, errors } = Papa.parse<Record<string, string>>(text, {
    header: true,
    newline: "\r\n",
    delimiter: ",",
  });
  expect(errors.filter(({ code }) => code !== "TooFewFields")).toEqual([]);
  return data.slice(0, -1);
}

describe("CSV", () => {
  it("gives back every token and figure of a case study, and no cell is a formula", () => {
    fc.assert(
      fc.property(pieces, hostileText, (tokens, name) => {
        const table = tableOf(tokens, name);
        const rows = readCsv(caseCsv(table));
        expect(rows.map((row) => JSON.parse(row.token_json!))).toEqual(tokens);
        // A log-probability is a figure and begins with its minus sign.
        expect(rows.map((row) => row.logp_graph)).toEqual(table.rows.map(({ graph }) => String(graph)));
        expect(rows[0]!.logp_graph).toMatch(/^-/);
        for (const row of rows) expect(Object.values(row).filter(formula)).toEqual([]);
        expect(Object.keys(rows[0]!).filter(formula)).toEqual([]);
      }),
    );
  });
  it("gives back every token of the largest changes", () => {
    fc.assert(
      fc.property(pieces, hostileText, (tokens, name) => {
        const rows = tokens.map(
          (text, position): ChangeRow => ({
            episode: name,
            decision: 0,
            position,
            id: position,
            text,
            vanilla: -1,
            graph: -2,
            delta: -1,
            flips: null,
          }),
        );
        const changes = {
          environment: name,
          task: name,
          evidence: name,
          teacher: { ...TEACHER, model: name },
        };
        const read = readCsv(changesCsv(changes as Pick<Changes, keyof typeof changes> as Changes, rows));
        expect(read.map((row) => JSON.parse(row.token_json!))).toEqual(tokens);
        for (const row of read) expect(Object.values(row).filter(formula)).toEqual([]);
      }),
    );
  });
});

describe("SVG", () => {
  /** Legal in XML; the rest is what has no shape even as a symbol. */
  const legal = (text: string): string => text.replace(/[\ufffe\uffff]/g, "\ufffd");

  it("is XML in which every token is its text", () => {
    fc.assert(
      fc.property(pieces, hostileText, (tokens, name) => {
        const { svg } = casePicture(tableOf(tokens, name), [name], roughly);
        const elements = readXml(svg);
        expect(new Set(elements.map((element) => element.name))).toEqual(
          new Set(["svg", "rect", "text", "line"]),
        );
        const texts = elements.flatMap((element) => (element.name === "text" ? [element.text] : []));
        for (const token of tokens) {
          const whole = legal(shortToken(token));
          // A wide one is cut, and says by how much.
          expect(texts.some((text) => text === whole || whole.startsWith(text.split("…⟨")[0]!))).toBe(true);
        }
        expect(
          elements.flatMap(({ attributes }) => Object.keys(attributes)).filter((key) => /^on/.test(key)),
        ).toEqual([]);
      }),
    );
  });
  it("takes a title, a legend and a caption of any text and length", () => {
    for (const text of [...HOSTILE_TEXTS, EVERYTHING, LONG_TOKEN]) {
      const caption = captionLines(text, { x: 0, y: 0, width: 400, measure: roughly });
      const { svg } = framed(
        [textLine(text, { x: 0, y: 0, size: 14, "data-x": text }), caption.svg],
        400,
        caption.end,
      );
      const [, , title] = readXml(svg);
      // A reader of XML makes one line end of all.
      const read = (value: string): string => value.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/gu, "\ufffd");
      expect(title!.text.length).toBeGreaterThan(0);
      expect(read(title!.text)).toBe(title!.text.replace(/[\u{10000}-\u{10ffff}]/gu, "\ufffd"));
    }
  });
});
