import { expect, it } from "vitest";
import type { GridTable } from "../../core/evaluation/index.ts";
import { cellsCsv, resultsCsv, resultsTex } from "./grid-tables.ts";

const table: GridTable = {
  evaluation: "test",
  environment: "scienceworld",
  checkpoint: "final",
  inference_seeds: [0, 1],
  tasks: 3,
  left_out: ["d"],
  methods: [
    {
      method: "opd",
      label: "Vanilla OPD",
      training_seeds: [1, 2],
      sr: { n: 2, mean: 22.314, sd: 0.4, interval: [20, 25] },
      score: { n: 2, mean: 52.79, sd: 0.35, interval: [50, 55.5] },
      rounds: { n: 2, mean: 19.66, sd: 0.15, interval: [19, 20] },
    },
    {
      method: "mine",
      label: "=GC_OPD, K=4",
      training_seeds: [1],
      sr: { n: 1, mean: 46.18, sd: null, interval: null },
      score: { n: 1, mean: 68.1, sd: null, interval: null },
      rounds: { n: 1, mean: 13.04, sd: null, interval: null },
    },
  ],
  untrained: {
    sr: { mean: 3.09, sd: 0.39 },
    score: { mean: 9.31, sd: 0.15 },
    rounds: { mean: 22.55, sd: 0.22 },
    technical: [],
  },
  comparisons: [],
  cells: [
    {
      method: "opd",
      training_seed: 1,
      sr: { mean: 22, sd: 1 },
      score: { mean: 52, sd: 2 },
      rounds: { mean: 19, sd: 3 },
      technical: [{ task: "a", seed: 0, reason: "x" }],
    },
  ],
};

it("writes the paper's layout in LaTeX: SD over training seeds in grey, none for the untrained student", () => {
  expect(resultsTex([table])).toBe(`% \\usepackage{booktabs,xcolor}
\\providecommand{\\meanstd}[2]{#1{\\tiny\\color{black!65}$\\pm$#2}}

% test, final checkpoint: mean and sample SD over n = 2 training seeds (1, 2),
% each the mean over 3 tasks and the inference seeds 0, 1.
% Left out of every row: 1 task with an episode that ended for a technical reason.
\\begin{tabular}{@{}lccc@{}}
\\toprule
Method & SR $\\uparrow$ & Score $\\uparrow$ & Rounds $\\downarrow$\\\\
\\midrule
Untrained student & 3.09 & 9.31 & 22.55\\\\
\\midrule
Vanilla OPD & \\meanstd{22.31}{0.40} & \\meanstd{52.79}{0.35} & \\meanstd{19.66}{0.15}\\\\
=GC\\_OPD, K=4 ($n=1$) & 46.18 & 68.10 & 13.04\\\\
\\bottomrule
\\end{tabular}
`);
});

it("leaves the column of scores out where there are none", () => {
  const [row] = table.methods;
  const text = resultsTex([{ ...table, untrained: null, methods: [{ ...row!, score: null }] }]);
  expect(text).toContain("Method & SR $\\uparrow$ & Rounds $\\downarrow$\\\\");
  expect(text).toContain("Vanilla OPD & \\meanstd{22.31}{0.40} & \\meanstd{19.66}{0.15}\\\\");
});

it("writes a row per method and a row per cell as CSV", () => {
  expect(resultsCsv([table]).split("\n")).toEqual([
    "evaluation,environment,checkpoint,method,label,training_seeds,n,tasks,sr_mean,sr_sd,sr_low,sr_high," +
      "score_mean,score_sd,score_low,score_high,rounds_mean,rounds_sd,rounds_low,rounds_high",
    "test,scienceworld,final,opd,Vanilla OPD,1 2,2,3,22.314,0.4,20,25,52.79,0.35,50,55.5,19.66,0.15,19,20",
    `test,scienceworld,final,mine,"'=GC_OPD, K=4",1,1,3,46.18,,,,68.1,,,,13.04,,,`,
    "",
  ]);
  expect(cellsCsv([table]).split("\n")).toEqual([
    "evaluation,environment,checkpoint,method,training_seed,inference_seeds,tasks," +
      "sr_mean,sr_sd,score_mean,score_sd,rounds_mean,rounds_sd,technical",
    "test,scienceworld,final,untrained,,0 1,3,3.09,0.39,9.31,0.15,22.55,0.22,0",
    "test,scienceworld,final,opd,1,0 1,3,22,1,52,2,19,3,1",
    "",
  ]);
});
