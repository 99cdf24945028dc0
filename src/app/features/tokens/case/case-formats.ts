/** The case-study table as Markdown, LaTeX and CSV. Recorded text is escaped so that it prints as text everywhere. */

import { nats, percent } from "../../../base/format.ts";
import { codePoint, type TokenSymbol, tokenSymbols, visibleToken } from "../../../base/token-symbols.ts";
import { type CaseTable, contextLine } from "./case-table.ts";

function headings({ headings: [base, side] }: CaseTable): string[] {
  return ["#", "Token", base, side, "Student", "Δ log p"];
}

function withoutStudent<T>(cells: readonly T[], { context }: CaseTable): T[] {
  return context.student === null ? cells.filter((_, i) => i !== 4) : [...cells];
}

/** A GitHub-flavoured table under a line that says what it is of. */
export function caseMarkdown(table: CaseTable): string {
  const line = contextLine(table)
    .map((part) => {
      if (typeof part === "string") return markdownText(part);
      if ("words" in part) return markdownText(inOneLine(part.words));
      return "name" in part ? markdownCode(part.name) : nats(part.nats, true);
    })
    .join("");
  const row = (cells: readonly string[]): string => `| ${withoutStudent(cells, table).join(" | ")} |`;
  return [
    line,
    "",
    // A side's name may be a model's, which may hold anything.
    row(headings(table).map((text) => markdownText(inOneLine(text)))),
    row(["--:", ":--", "--:", "--:", "--:", "--:"]),
    ...table.rows.map(({ position, token, vanilla, graph, student, delta }) =>
      row([
        String(position),
        markdownCode(token),
        percent(vanilla),
        percent(graph),
        student === null ? "" : percent(student),
        nats(delta, true),
      ]),
    ),
    "",
  ].join("\n");
}

/** A text that may quote a record: in one line, what has no shape as a symbol, spaces as they are. */
function inOneLine(text: string): string {
  return visibleToken(text).replaceAll("␣", " ");
}

/** Text as Markdown that prints it. */
function markdownText(text: string): string {
  return text.replace(/[\\`*_[\]<>|~&$]/g, "\\$&");
}

/**
 * Code that is safe in a table. Backticks where they suffice; a token with a pipe, a backtick or a backslash, which
 * renderers read differently there, becomes an element with every mark as a character reference.
 */
export function markdownCode(text: string): string {
  const shown = visibleToken(text);
  if (!/[|`\\]/.test(shown)) return `\`${shown}\``;
  return `<code>${shown.replace(/[!-/:-@[-`{-~]/g, (mark) => `&#${mark.charCodeAt(0)};`)}</code>`;
}

/** A booktabs table under a line that says what it is of. */
export function caseLatex(table: CaseTable): string {
  const line = contextLine(table)
    .map((part) => {
      if (typeof part === "string") return latexText(part);
      if ("words" in part) return latexText(inOneLine(part.words));
      return "name" in part ? latexCode(part.name) : latexNats(part.nats);
    })
    .join("");
  const row = (cells: readonly string[]): string => `${withoutStudent(cells, table).join(" & ")} \\\\`;
  const body = [
    `\\noindent ${line}\\par\\smallskip`,
    `\\begin{tabular}{@{}${withoutStudent(["r", "l", "r", "r", "r", "r"], table).join("")}@{}}`,
    "\\toprule",
    row(headings(table).map((text) => latexText(inOneLine(text)))),
    "\\midrule",
    ...table.rows.map(({ position, token, vanilla, graph, student, delta }) =>
      row([
        String(position),
        latexCode(token),
        latexPercent(vanilla),
        latexPercent(graph),
        student === null ? "" : latexPercent(student),
        latexNats(delta),
      ]),
    ),
    "\\bottomrule",
    "\\end{tabular}",
  ].join("\n");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything beyond ASCII is meant
  const plain = /^[\x00-\x7f]*$/.test(body);
  return `% Needs \\usepackage{booktabs}${plain ? "" : "; characters beyond ASCII need XeLaTeX or LuaLaTeX and a font that has them"}\n${body}\n`;
}

function latexPercent(logprob: number): string {
  const text = hyphens(percent(logprob)).slice(0, -1);
  const [mantissa, exponent] = text.split("e");
  return exponent === undefined ? `${text}\\%` : `$${mantissa}\\times10^{${Number(exponent)}}$\\%`;
}

function latexNats(value: number): string {
  return `$${hyphens(nats(value, true))}$`;
}

/** A number of the page as TeX reads it. */
const hyphens = (text: string): string => text.replaceAll("−", "-");

/** Marks that mean something to TeX or join with their neighbours, and what prints them. */
const LATEX: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "{": "\\{",
  "}": "\\}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  "%": "\\%",
  _: "\\_",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "'": "\\textquotesingle{}",
  "`": "\\textasciigrave{}",
  '"': "\\char34{}",
  "-": "-{}",
};

function escapeLatex(text: string): string {
  return (
    text
      .replace(/[\\{}$&#%_~^'`"-]/g, (mark) => LATEX[mark]!)
      // Fonts join two of these into a quotation mark.
      .replace(/[<>,](?=[<>,])/g, "$&{}")
  );
}

/** Marks that TeX's own text font prints as others; its typewriter font has them. */
const IN_TEXT: Record<string, string> = {
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
};

function latexText(words: string): string {
  return escapeLatex(words)
    .replaceAll("-{}", "-")
    .replace(/[<>|]/g, (mark) => IN_TEXT[mark]!)
    .replaceAll("Δ log p", "$\\Delta\\log p$");
}

/** `\texttt{…}` with every special character escaped and white space visible. */
export function latexCode(text: string): string {
  return `\\texttt{${tokenSymbols(text).map(latexSymbol).join("")}}`;
}

function latexSymbol(symbol: TokenSymbol): string {
  switch (symbol.kind) {
    case "text":
      return escapeLatex(symbol.text);
    case "space":
      return "\\textvisiblespace{}";
    case "newline":
      return "$\\hookleftarrow$";
    case "tab":
      return "$\\mapsto$";
    case "empty":
      return "$\\emptyset$";
    case "code":
      return codePoint(symbol.code);
  }
}

/**
 * RFC 4180 with a heading line; a record is one line. Probabilities and natural logarithms in full; `token_json` is
 * the token's exact text as a JSON string, so that no white space is lost and no spreadsheet takes it for a formula.
 */
export function caseCsv(table: CaseTable): string {
  const { environment, task, episode, decision, evidence, teacher, computed, student } = table.context;
  const [base, side] = table.compared;
  const names = [environment, task, episode, String(decision), evidence, teacher, computed, student ?? ""];
  const lines = [
    [
      "position",
      "id",
      "token_json",
      csvName(`p_${base}`),
      csvName(`p_${side}`),
      "p_student",
      csvName(`logp_${base}`),
      csvName(`logp_${side}`),
      "logp_student",
      "delta_logp",
      "environment",
      "task",
      "episode",
      "decision",
      "evidence",
      "teacher",
      "computed",
      "student",
    ],
    ...table.rows.map((row) => {
      const logs = [row.vanilla, row.graph, row.student];
      return [
        String(row.position),
        String(row.id),
        jsonText(row.token),
        ...logs.map((value) => (value === null ? "" : String(Math.exp(value)))),
        ...logs.map((value) => (value === null ? "" : String(value))),
        String(row.delta),
        ...names.map(csvName),
      ];
    }),
  ];
  return lines.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

/** JSON with every shapeless character but the space escaped, so that the line shows what it holds. */
export function jsonText(text: string): string {
  return JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, i) => unicodeEscape(character.charCodeAt(i))).join(""),
  );
}

function unicodeEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/**
 * A name that a spreadsheet would take for a formula gets the apostrophe that makes it text (OWASP, CSV injection); line
 * ends and what else has no shape show. Figures are none of these: a log-probability begins with its minus sign.
 */
export function csvName(name: string): string {
  const shown = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    codePoint(character.codePointAt(0)!),
  );
  return FORMULA.test(shown) ? `'${shown}` : shown;
}

/** How formulas begin, in spreadsheets of any language. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/;

export function csvCell(text: string): string {
  return /[",;\t\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
