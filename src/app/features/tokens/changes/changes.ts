/** Scores all decisions of an episode, or of a task, under both contexts; what is there is shown as it arrives. */
import { create } from "zustand";
import { InputError } from "../../../../core/errors.ts";
import type { EngineInfo } from "../../../../core/ports.ts";
import type { Selection } from "../../../../core/retrieval/selection.ts";
import type { TokenizerHashes } from "../../../../text/index.ts";
import { describeFault, isAbort, isDeviceFault } from "../../../base/faults.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import { requirePlan } from "../../../compute/models/memory.ts";
import { models } from "../../../compute/models/models.ts";
import { planScoring } from "../../../compute/scoring/score.ts";
import { type PassResult, scoreKey, scoringRuns } from "../../../compute/scoring/scoring-run.ts";
import { computedSide } from "../../../compute/scoring/sides.ts";
import { getUi, setUi } from "../../../compute/store.ts";
import { libraryWorker } from "../../../data/library-client.ts";
import type { TaskModel } from "../../../data/model.ts";
import { evidenceWords, ofTask, selectionOf } from "../../../url/what-if.ts";
import { ChangeCollector, type ChangeFigures, type ChangeRow } from "./change-collector.ts";

export type ChangeScope = "episode" | "task";

/** Decisions of a job whose strips are kept ready to be looked at; others are scored again when they are opened. */
export const KEPT_STRIPS = 200;

export interface Changes {
  library: string;
  environment: string;
  task: string;
  /** Null: all episodes of the task. */
  episode: string | null;
  selection: Selection;
  /** The end-of-turn token stands after responses that were recorded as text. */
  endOfTurn: boolean;
  /** The evidence in words. */
  evidence: string;
  teacher: EngineInfo;
  hashes: TokenizerHashes | null;
  /** Decisions in all. */
  total: number;
  /** Those without figures, and why. */
  skipped: { episode: string; decision: number; reason: string }[];
  figures: ChangeFigures;
  rows: readonly ChangeRow[];
  /** False while it runs, and after a cancel. */
  finished: boolean;
}

/** The last job's results; another one replaces them. */
export const useChanges = create<{ changes: Changes | null }>(() => ({ changes: null }));

/** The key of the job in the store's `scoring`: of no decision. */
export const CHANGES_KEY = "changes";

interface Planned {
  episode: string;
  decision: number;
  vanilla: number;
  graph: number;
  response: number;
}

export async function scoreChanges(scope: ChangeScope): Promise<void> {
  const { task, decision: shown, place } = getUi();
  if (task === null) return;
  const episode = scope === "episode" ? (shown?.episode ?? place.episode) : null;
  if (scope === "episode" && episode === null) return;
  const selection = selectionOf(ofTask(place));
  const { endOfTurn } = place;
  const ref = { library: task.library, environment: task.environment, task: task.task };
  await scoringRuns.run("changes", CHANGES_KEY, async (run) => {
    const { wait, checkStop, open, show, runJobs } = run;
    const decisions = decisionsOf(task, episode);
    if (decisions.length === 0) throw new InputError("there are no decisions to score");
    await open("teacher");
    const skipped: Changes["skipped"] = [];
    const planned: Planned[] = [];
    for (const [i, each] of decisions.entries()) {
      show("Counting tokens", i, decisions.length, null, "decisions");
      checkStop();
      const counts = await wait(
        libraryWorker()
          .tasks.contextLengths(ref, each.episode, each.decision, selection, { endOfTurn })
          .catch((error: unknown) => {
            skipped.push({ ...each, reason: describeFault(error) });
            return null;
          }),
      );
      if (counts !== null) planned.push({ ...each, ...counts });
    }
    if (planned.length === 0) throw new InputError(`no decision can be scored: ${skipped[0]!.reason}`);
    const most = (of: (each: Planned) => number): number =>
      planned.reduce((longest, each) => Math.max(longest, of(each)), 0);
    const longest = {
      vanilla: most(({ vanilla }) => vanilla),
      graph: most(({ graph }) => graph),
      response: most(({ response }) => response),
    };
    const passes = await wait(requirePlan("score", () => planScoring(longest, { student: false })));
    await wait((await models.worker()).api.takePasses(passes));
    const hashes = await wait(libraryWorker().tasks.tokenizerHashes());
    const teacher = getUi().models.teacher?.info;
    if (teacher === undefined) throw new Error("the teacher is not open any more");
    const collector = new ChangeCollector();
    const tell = (finished: boolean): void =>
      useChanges.setState({
        changes: {
          ...ref,
          episode,
          selection,
          endOfTurn,
          evidence: evidenceWords(ofTask(place)),
          teacher,
          hashes,
          total: decisions.length,
          skipped: [...skipped],
          figures: collector.figures(),
          rows: collector.rows(),
          finished,
        },
      });
    let strips = 0;
    tell(false);
    await runJobs(
      planned.map(({ episode: e, decision: d, vanilla, graph, response }, i) => ({
        label: `Decision ${d} of ${shownName(e, 80)} (${i + 1} of ${planned.length})`,
        tokens: vanilla + graph + 2 * response,
      })),
      async (i, call) => {
        const { episode: e, decision: d } = planned[i]!;
        let results: PassResult[];
        const began = performance.now();
        const { vanillaIds, graphIds, responseIds, pieces } = await wait(
          libraryWorker().tasks.pair(ref, e, d, selection, { endOfTurn }),
        );
        try {
          // Both at once: what they share is computed once.
          results = await call(
            "teacher",
            [
              { promptIds: vanillaIds, responseIds },
              { promptIds: graphIds, responseIds },
            ],
            { topK: 1 },
          );
        } catch (error) {
          if (isAbort(error) || isDeviceFault(error)) throw error;
          skipped.push({ episode: e, decision: d, reason: describeFault(error) });
          tell(false);
          return;
        }
        const [vanilla, graph] = results;
        if (vanilla === undefined || graph === undefined) throw new Error("a pass gave no result");
        collector.add({
          episode: e,
          decision: d,
          ids: responseIds,
          pieces,
          vanilla: vanilla.logprobs,
          graph: graph.logprobs,
          argmax: vanilla.topIds && graph.topIds ? { vanilla: vanilla.topIds, graph: graph.topIds } : null,
        });
        const seconds = (performance.now() - began) / 1000;
        const key = scoreKey({ ...ref, episode: e, decision: d, selection, endOfTurn });
        const of = { model: "teacher" as const, responseIds, hashes, engine: teacher };
        if (getUi().scores[key] === undefined && strips < KEPT_STRIPS) {
          strips += 1;
          const sides = [
            computedSide(
              { ...of, key: "vanilla", label: "teacher, without evidence", promptIds: vanillaIds },
              vanilla,
              seconds / 2,
            ),
            computedSide(
              { ...of, key: "graph", label: "teacher, with evidence", promptIds: graphIds },
              graph,
              seconds / 2,
            ),
          ];
          setUi((ui) => ({
            scores: {
              ...ui.scores,
              [key]: { pieces, ids: responseIds, sides, studentProblem: null, seconds, leftOut: [] },
            },
          }));
        }
        tell(false);
      },
    );
    tell(true);
  });
}

function decisionsOf(task: TaskModel, episode: string | null): { episode: string; decision: number }[] {
  return task.episodes
    .filter(({ id }) => episode === null || id === episode)
    .flatMap(({ id, decisions }) =>
      Array.from({ length: decisions }, (_, decision) => ({ episode: id, decision })),
    );
}
