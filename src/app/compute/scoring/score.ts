/** Scoring one decision: the teacher without and with evidence on the same response ids, and the student. */
import { InputError } from "../../../core/errors.ts";
import type { WhatIf } from "../../../core/evidence/index.ts";
import { countOf } from "../../../core/plural.ts";
import type { EngineInfo } from "../../../core/ports.ts";
import { describeFault, isAbort, isDeviceFault } from "../../base/faults.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { DecisionModel, FullMethod, ScorePair, TokenCounts } from "../../data/model.ts";
import { requirePlan, showPlan } from "../models/memory.ts";
import { models } from "../models/models.ts";
import { type Side, sideOf } from "../side.ts";
import { getUi, setUi, type TokenScores } from "../store.ts";
import { distributionOf, wantedOf } from "./known-distribution.ts";
import { type ScoringRun, scoreKey, scoringRuns } from "./scoring-run.ts";
import { computedSide, hasItsWeights, scoreWantedSides, unionOf } from "./sides.ts";

export { scoreKey, scoringRuns } from "./scoring-run.ts";

/**
 * Scores the shown decision's response: the teacher under both contexts, the student under the first where it reads the
 * teacher's tokens. Under a what-if also the teacher with the evidence of the full method, which the change is read
 * against.
 */
export async function scoreDecision(): Promise<void> {
  const { decision } = getUi();
  if (decision === null) return;
  await scoringRuns.run("contexts", scoreKey(decision), async (run) => {
    const { key, open, wait, score } = run;
    const { counts, countsProblem } = decision;
    if (counts === null) throw new InputError(countsProblem ?? "there are no tokens to score");
    const { episode, decision: at, endOfTurn } = decision;
    const pair = (selection: WhatIf) =>
      wait(libraryWorker().tasks.pair(decision, episode, at, selection, { endOfTurn }));
    const { responseIds, vanillaIds, graphIds, pieces, ...read } = await pair(decision.selection);
    let { studentProblem } = read;
    const passes = await wait(
      requirePlan("score", () =>
        planScoring(bothCounts(counts, decision.full), { student: studentProblem === null }),
      ),
    );
    await open("teacher");
    if (studentProblem === null) studentProblem = await openStudent(open);
    await wait((await models.worker()).api.takePasses(passes));
    const full = decision.full === null ? null : await pair({});
    if (full !== null) checkSameResponse(full, { responseIds, vanillaIds });
    const hashes = await wait(libraryWorker().tasks.tokenizerHashes());
    const fullKey = scoreKey({ ...decision, selection: {} });
    const began = performance.now();
    const evidence = full === null ? "with evidence" : "what-if evidence";
    const all = [
      { key: "vanilla", model: "teacher", label: "Teacher, without evidence", promptIds: vanillaIds },
      ...(studentProblem === null
        ? ([{ key: "student", model: "student", label: "Student", promptIds: vanillaIds }] as const)
        : []),
      ...(full === null
        ? []
        : ([{ key: "full", model: "teacher", label: FULL_LABEL, promptIds: full.graphIds }] as const)),
      { key: "graph", model: "teacher", label: `Teacher, ${evidence}`, promptIds: graphIds },
    ] as const;
    // What was scored under the full method, with the same models, is not scored again.
    const sides = full === null ? new Map<string, Side>() : knownSides(decision);
    const base = all
      .filter((pass) => !sides.has(pass.key))
      .map((pass) => {
        const engine = getUi().models[pass.model]!.info;
        return { ...pass, engine, hashes, responseIds, wanted: wantedOf(engine, responseIds.length) };
      });
    await score(base, async (i, result, seconds) => {
      const pass = base[i]!;
      const side = computedSide({ ...pass, label: lower(pass.label) }, result, seconds);
      sides.set(pass.key, { ...side, distribution: await wait(distributionOf(result, pass.model)) });
    });
    if (studentProblem !== null) sides.delete("student");
    const ordered = ["vanilla", "full", "graph", "student"].flatMap((name) => sides.get(name) ?? []);
    const scores: TokenScores = {
      pieces,
      ids: responseIds,
      // Shown once they are complete: bounds that become figures a moment later would shift what is below them.
      sides: await unionOf(run, ordered),
      studentProblem,
      seconds: (performance.now() - began) / 1000,
      leftOut: [],
    };
    setUi((ui) => ({
      scores: {
        ...(full === null ? {} : { [fullKey]: ui.scores[fullKey] ?? fullScores(scores) }),
        ...ui.scores,
        [key]: scores,
      },
    }));
    await scoreWantedSides(run, decision);
  });
}

/** Opens the student. Why it cannot take part, in one line: the teacher is scored all the same. */
async function openStudent(open: ScoringRun["open"]): Promise<string | null> {
  try {
    await open("student");
    return null;
  } catch (error) {
    if (isAbort(error) || isDeviceFault(error)) throw error;
    return describeFault(error);
  }
}

/** The longer of a what-if's two evidence texts. */
function bothCounts(counts: TokenCounts, full: FullMethod | null): TokenCounts {
  return { ...counts, graph: Math.max(counts.graph, full?.counts?.graph ?? 0) };
}

const FULL_LABEL = "Teacher, recorded graph evidence";

/** A what-if changes what the teacher reads, never what it scores. */
function checkSameResponse(
  full: Pick<ScorePair, "responseIds" | "vanillaIds">,
  changed: Pick<ScorePair, "responseIds" | "vanillaIds">,
): void {
  for (const ids of ["responseIds", "vanillaIds"] as const) {
    if (full[ids].length !== changed[ids].length || full[ids].some((id, i) => id !== changed[ids][i])) {
      throw new Error(`the what-if changed the ${ids === "responseIds" ? "response" : "prompt"}`);
    }
  }
}

/** The scores of the full method that those of a what-if have in them. */
function fullScores(scores: TokenScores): TokenScores {
  const graph: Side = { ...sideOf(scores, "full")!, key: "graph", label: "teacher, with evidence" };
  const sides = scores.sides.filter(({ key }) => key !== "graph");
  return { ...scores, sides: sides.map((each) => (each.key === "full" ? graph : each)) };
}

/** Sides of the same decision under the full method, as far as the open models scored them; none once scored here. */
function knownSides(decision: DecisionModel): Map<string, Side> {
  const { scores, models } = getUi();
  const known = scores[scoreKey({ ...decision, selection: {} })];
  const sides = new Map<string, Side>();
  if (known === undefined || scores[scoreKey(decision)] !== undefined) return sides;
  for (const side of known.sides) {
    const engine =
      side.model === "teacher" || side.model === "student" ? models[side.model]?.info : undefined;
    if (engine === undefined || !isSameEngine(engine, side.provenance.engine) || !hasItsWeights(side))
      continue;
    if (side.key === "graph") sides.set("full", { ...side, key: "full", label: lower(FULL_LABEL) });
    else if (side.key === "vanilla" || side.key === "student") sides.set(side.key, side);
  }
  return sides;
}

const lower = (label: string): string => `${label[0]!.toLowerCase()}${label.slice(1)}`;

/** A change of the figures is of the evidence only where the same models gave them. */
export function isSameEngine(a: EngineInfo, b: EngineInfo | null): boolean {
  return (["model", "device", "adapter", "dtype"] as const).every((key) => a[key] === b?.[key]);
}

type Counts = Pick<TokenCounts, "vanilla" | "graph" | "response">;

/** Each sequence is a pass of its own. */
export const onePass = (context: number, response: number) => ({
  longestSequence: context + response,
  longestResponse: response,
  allTokens: context + response,
});

/** What teacher and student read of a decision of so many tokens. */
export const scoredLengths = ({ vanilla, graph, response }: Counts) => ({
  teacher: onePass(Math.max(vanilla, graph), response),
  student: onePass(vanilla, response),
});

/** "1,813 tokens instead of 530, then the same 24 response tokens": what the evidence makes the teacher read. */
export const teacherReads = ({ vanilla, graph, response }: Counts): string =>
  `${countOf(graph, "token")} instead of ${vanilla.toLocaleString("en")}, then the same ${countOf(response, "response token")}`;

/** What scoring a decision of so many tokens will need; without the student where it takes no part. */
export async function planScoring(counts: Counts, { student }: { student: boolean }) {
  const [{ api }, job] = await Promise.all([
    models.worker(),
    student ? models.workload("score") : models.teacherWorkload(),
  ]);
  return api.planScoring(job, scoredLengths(counts));
}

/** Shows what scoring the decision on the screen will need. */
export function showScoringPlan(): Promise<void> {
  const { decision } = getUi();
  return showPlan("score", async () => {
    const counts = decision?.counts ?? null;
    const student = getUi().tokenizerFit.scoring === null;
    return counts === null ? null : planScoring(bothCounts(counts, decision?.full ?? null), { student });
  });
}
