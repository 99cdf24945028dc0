import { describe, expect, it } from "vitest";
import { computedOn, scoredSide } from "../../../../../test/support/token-scores.ts";
import { visibleToken } from "../../../base/token-symbols.ts";
import { caseCsv, caseLatex, caseMarkdown, latexCode, markdownCode } from "./case-formats.ts";
import { type CaseScores, type CaseSize, caseTable } from "./case-table.ts";

const DECISION = { environment: "scienceworld", task: "melt|12|easy", episode: "e_1", decision: 4 };

/** The paper's case study, and a token that the evidence moves by less. */
function scores(
  pieces = ["look", " in", " drawer"],
  figures: Record<string, number[]> = {
    vanilla: [0.9769, 0.9996, 0.9995],
    graph: [0.2681, 0.9977, 0.9999],
    student: [0.5, 0.25, 0.00001],
  },
): CaseScores {
  const sides = Object.entries(figures).map(([key, values]) => {
    const logprobs = Float32Array.from(pieces, (_, i) => Math.log(values[i % values.length]!));
    const model = key === "student" ? "student" : "qwen3_a";
    return computedOn(scoredSide(key, logprobs), { model, device: "webgpu" });
  });
  return { pieces, ids: pieces.map((_, i) => 100 + i), sides };
}

const withoutStudent = (): CaseScores => {
  const { sides, ...rest } = scores();
  return { ...rest, sides: sides.filter(({ key }) => key !== "student") };
};

const table = (size: CaseSize = "whole", pieces?: string[]) =>
  caseTable(DECISION, "full method", scores(pieces), size);

/** Fields of RFC 4180, read back. */
function readCsv(text: string): string[][] {
  const records: string[][] = [];
  let fields: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    fields.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === "\r\n") {
      records.push(fields);
      fields = [];
    }
  }
  return records;
}

describe("caseTable", () => {
  it("has the largest changes first, of either sign", () => {
    const { rows, whole, tokens } = table(2);
    expect(rows.map(({ token }) => token)).toEqual(["look", " in"]);
    expect([whole, tokens]).toEqual([false, 3]);
    expect(rows[0]!.delta).toBeCloseTo(Math.log(0.2681 / 0.9769), 5);
  });
  it("keeps the response's order when it shows the whole of it, and the earlier token first among equals", () => {
    expect(table("whole").rows.map(({ position }) => position)).toEqual([0, 1, 2]);
    const same = scores(["a", "b", "c", "d"], { vanilla: [0.5], graph: [0.5] });
    expect(caseTable(DECISION, "", same, 2).rows.map(({ token }) => token)).toEqual(["a", "b"]);
  });
  it("sums over the response, not over the rows", () => {
    const all = table("whole");
    expect(table(1).sum).toBe(all.sum);
    expect(all.sum).toBeCloseTo(
      all.rows.reduce((sum, row) => sum + row.delta, 0),
      6,
    );
  });
});

describe("caseMarkdown", () => {
  it("prints the paper's figures", () => {
    expect(caseMarkdown(table(1))).toBe(
      [
        // A pipe is not a mark of Markdown outside tables, but some readers look for tables first.
        "Task <code>melt&#124;12&#124;easy</code> (`scienceworld`), episode `e_1`, decision 4. Teacher `qwen3_a` (f32, WebGPU), student `student`; evidence: full method. The 1 of 3 response tokens that change most; over the whole response Δ log p is −1.295 nats.",
        "",
        "| # | Token | Vanilla teacher | Graph-conditioned teacher | Student | Δ log p |",
        "| --: | :-- | --: | --: | --: | --: |",
        "| 0 | `look` | 97.69% | 26.81% | 50.00% | −1.293 |",
        "",
      ].join("\n"),
    );
  });
  it("has no column for a student that was not scored", () => {
    const text = caseMarkdown(caseTable(DECISION, "", withoutStudent(), 1));
    expect(text).not.toMatch(/student/i);
    expect(text).toContain("| 0 | `look` | 97.69% | 26.81% | −1.293 |");
  });
  it("cannot be broken out of a cell or a line", () => {
    const hostile = ["a|b", "\\|", "`", "```", "\n| x |", "<b>&amp;", "\r", "", " "];
    const lines = caseMarkdown(table("whole", hostile)).trimEnd().split("\n");
    expect(lines).toHaveLength(4 + hostile.length);
    for (const line of lines.slice(4)) expect(line.split("|"), line).toHaveLength(8);
    expect(markdownCode("a|`\\<")).toBe("<code>a&#124;&#96;&#92;&#60;</code>");
    expect(markdownCode(" <b>&")).toBe("`␣<b>&`");
  });
});

describe("caseLatex", () => {
  it("prints the paper's figures under booktabs rules", () => {
    expect(caseLatex(table(1))).toBe(
      String.raw`% Needs \usepackage{booktabs}
\noindent Task \texttt{melt|12|easy} (\texttt{scienceworld}), episode \texttt{e\_1}, decision 4. Teacher \texttt{qwen3\_a} (f32, WebGPU), student \texttt{student}; evidence: full method. The 1 of 3 response tokens that change most; over the whole response $\Delta\log p$ is $-1.295$ nats.\par\smallskip
\begin{tabular}{@{}rlrrrr@{}}
\toprule
\# & Token & Vanilla teacher & Graph-conditioned teacher & Student & $\Delta\log p$ \\
\midrule
0 & \texttt{look} & 97.69\% & 26.81\% & 50.00\% & $-1.293$ \\
\bottomrule
\end{tabular}
`,
    );
  });
  it("escapes every special character", () => {
    expect(latexCode("\\{}$&#%_~^")).toBe(
      String.raw`\texttt{\textbackslash{}\{\}\$\&\#\%\_\textasciitilde{}\textasciicircum{}}`,
    );
    expect(latexCode("'`\"--")).toBe(String.raw`\texttt{\textquotesingle{}\textasciigrave{}\char34{}-{}-{}}`);
    expect(latexCode(" \n\t")).toBe(String.raw`\texttt{\textvisiblespace{}$\hookleftarrow$$\mapsto$}`);
    expect(latexCode("")).toBe(String.raw`\texttt{$\emptyset$}`);
  });
  it("prints small probabilities as powers of ten", () => {
    const last = caseTable(DECISION, "", scores(), "whole").rows[2]!;
    expect(last.student).toBeCloseTo(Math.log(0.00001), 4);
    expect(caseLatex(table("whole"))).toContain(String.raw`$1.0\times10^{-3}$\%`);
  });
  it("keeps a row on its line and says what text beyond ASCII needs", () => {
    const text = caseLatex(table("whole", ["a & b", "\r\n\\\\", "שלום"]));
    expect(text.split("\n").filter((line) => line.endsWith(" \\\\"))).toHaveLength(4);
    expect(text).toMatch(/^% Needs .*XeLaTeX/);
    expect(text).toContain(String.raw`\texttt{a\textvisiblespace{}\&\textvisiblespace{}b}`);
  });
});

describe("caseCsv", () => {
  it("reads back to the same figures and texts, whatever the tokens are", () => {
    const hostile = [
      '"',
      ",",
      "\r\n",
      "=1+1",
      "\u0000\u001b[31m",
      "שלום\u202e",
      "a\\b",
      "👩‍🚀",
      "\ud83d",
      " look",
    ];
    const { rows } = table("whole", hostile);
    const [heading, ...records] = readCsv(caseCsv(table("whole", hostile)));
    expect(records).toHaveLength(hostile.length);
    const column = (name: string) => records.map((record) => record[heading!.indexOf(name)]!);
    expect(column("token_json").map((text) => JSON.parse(text))).toEqual(hostile);
    expect(column("delta_logp").map(Number)).toEqual(rows.map((row) => row.delta));
    expect(column("p_graph").map(Number)).toEqual(rows.map((row) => Math.exp(row.graph)));
    expect(new Set(column("task"))).toEqual(new Set([DECISION.task]));
    // A record is one line, of characters that show.
    expect(caseCsv(table("whole", hostile)).replaceAll("\r\n", "")).not.toMatch(/[\p{Cc}\p{Zl}]|\u202e/u);
  });
  it("lets no name become a formula", () => {
    const csv = caseCsv(caseTable({ ...DECISION, task: '=HYPERLINK("x")' }, "", scores(), 1));
    expect(csv).toContain(`"'=HYPERLINK(""x"")"`);
  });
  it("leaves out what was not scored", () => {
    const [heading, record] = readCsv(caseCsv(caseTable(DECISION, "", withoutStudent(), 1)));
    expect(record![heading!.indexOf("p_student")]).toBe("");
    expect(record).toHaveLength(heading!.length);
  });
});

it("has other sides under their own names, in every format", () => {
  const logprobs = Float32Array.from([-1, -1, -1]);
  const base = { key: "graph", label: "teacher, with evidence", logprobs };
  const side = { key: "model:a|b:graph", label: "a|b, with evidence", logprobs: logprobs.map((p) => p - 1) };
  const other = caseTable(DECISION, "full method", scores(), 1, { base, side });
  expect(other.rows[0]!.delta).toBe(-1);
  expect(caseMarkdown(other)).toContain("| Teacher, with evidence | A\\|b, with evidence |");
  expect(caseLatex(other)).toContain("Teacher, with evidence & A\\textbar{}b, with evidence &");
  expect(readCsv(caseCsv(other))[0]).toContain("logp_model:a|b:graph");
});

describe("visibleToken", () => {
  it("shows what has no shape of its own, and leaves letters of every script alone", () => {
    expect(visibleToken("a\u202eb\u0000\u00a0")).toBe("a<U+202E>b<U+0000><U+00A0>");
    expect(visibleToken("שלום")).toBe("שלום");
    expect(visibleToken("👩‍🚀")).toBe("👩‍🚀");
    expect(visibleToken("\u200d")).toBe("<U+200D>");
    expect(visibleToken("\ud83d")).toBe("<U+D83D>");
  });
});
