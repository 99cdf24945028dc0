/** Further sides of a scored decision: other contexts of the teacher on the same response, one pass each. */

import type { EngineInfo } from "../../../core/ports.ts";
import type { TokenizerHashes } from "../../../text/index.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { DecisionModel } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import { MOST_SIDES } from "../../url/place.ts";
import { evidenceSideKey, evidenceSideLabel, parseEvidenceSide } from "../../url/sides.ts";
import { type Controls, selectionOf } from "../../url/what-if.ts";
import { models, useStudentRun } from "../models/models.ts";
import type { Side, SideModel, StudentWeights } from "../side.ts";
import { changeScores, getUi } from "../store.ts";
import { withUnion } from "./internal/union.ts";
import { distributionOf, wantedOf } from "./known-distribution.ts";
import { type PassResult, type ScoringRun, scoreKey, scoringRuns } from "./scoring-run.ts";

/** A side that can be scored. */
export interface SideSpec {
  key: string;
  /** "teacher, success only" */
  label: string;
  model: SideModel;
  /** The further model's files, where it is one. */
  folder?: FolderFiles;
  /** What the model reads, made when its turn comes. */
  context(): Promise<SideContext>;
}

export interface SideContext {
  promptIds: readonly number[];
  responseIds: readonly number[];
  /** Of its tokenizer, where it is not the open one. */
  hashes?: TokenizerHashes;
}

function studentWeights(): StudentWeights {
  const { origin, steps } = getUi().models.student!;
  return { origin, steps, run: useStudentRun.getState().id };
}

/** Whether the student has the weights of that side; true of any other side. Its model must be open. */
export function hasItsWeights({ provenance: { weights } }: Side): boolean {
  return weights === undefined || JSON.stringify(weights) === JSON.stringify(studentWeights());
}

/** A side from what its pass gave. */
export function computedSide(
  of: {
    key: string;
    label: string;
    model: SideModel;
    promptIds: readonly number[];
    responseIds: readonly number[];
    hashes: TokenizerHashes | null;
    /** The further model's files, where it is one. */
    folder?: FolderFiles;
    engine: EngineInfo;
  },
  { logprobs }: PassResult,
  seconds: number,
): Side {
  const { key, label, model, promptIds, responseIds, hashes, engine } = of;
  return {
    key,
    label,
    ids: responseIds,
    logprobs,
    promptIds,
    model,
    ...(of.folder === undefined ? {} : { folder: of.folder }),
    provenance: {
      engine,
      file: null,
      tokenizer: hashes?.tokenizer ?? null,
      template: hashes?.template ?? null,
      seconds,
      ...(model === "student" ? { weights: studentWeights() } : {}),
    },
    distribution: null,
  };
}

/** Scores further sides of the shown decision and keeps each as it ends; those of the same keys are replaced. */
export async function scoreSides(specs: readonly SideSpec[]): Promise<void> {
  const { decision } = getUi();
  if (decision === null || getUi().scores[scoreKey(decision)] === undefined) return;
  await scoringRuns.run("side", scoreKey(decision), (run) => scoreInRun(run, specs));
}

async function scoreInRun(run: ScoringRun, specs: readonly SideSpec[]): Promise<void> {
  const opened = await run.wait(libraryWorker().tasks.tokenizerHashes());
  for (const { context, ...spec } of specs) {
    const engine = await openModelOf(run, spec);
    const read = await run.wait(context());
    const of = { hashes: opened, ...spec, ...read, engine };
    await run.score(
      [{ ...of, wanted: wantedOf(engine, read.responseIds.length) }],
      async (_, result, seconds) => {
        const distribution = await run.wait(distributionOf(result, spec.model));
        keepSide(run.key, { ...computedSide(of, result, seconds), distribution });
      },
    );
  }
  await keepUnion(run);
}

/**
 * Gives each side of a decision's scores the probabilities of what any other side lists. A further model that was
 * closed is not opened again for that: the run's memory plan has no room for it.
 */
export async function keepUnion(run: ScoringRun): Promise<void> {
  const sides = getUi().scores[run.key]?.sides ?? [];
  for (const side of await unionOf(run, sides)) if (!sides.includes(side)) keepSide(run.key, side);
}

/** The sides, each telling what any other lists. */
export function unionOf(run: ScoringRun, sides: readonly Side[]): Promise<Side[]> {
  return withUnion(sides, async (side) => {
    if (side.model === "other" && !run.hasOther(side.folder)) return null;
    await openModelOf(run, side);
    if (!hasItsWeights(side)) return null;
    const { api } = await run.wait(models.worker());
    return (hidden: Float32Array, ids: number[]) => run.wait(api.headLogprobs(side.model, hidden, ids));
  });
}

/** Opens what scores a side. @returns what it is computed on */
export async function openModelOf(
  run: ScoringRun,
  { key, model, folder }: Pick<SideSpec, "key" | "model" | "folder">,
): Promise<EngineInfo> {
  if (model === "other") {
    if (folder === undefined) throw new Error(`${key} has no model`);
    return run.openOther(folder);
  }
  await run.open(model);
  return getUi().models[model]!.info;
}

/** Adds a side to a decision's scores, or puts it in the place of the one with its key. */
export function keepSide(scoresKey: string, side: Side): void {
  changeScores(scoresKey, ({ sides }) => ({
    sides: sides.some(({ key }) => key === side.key)
      ? sides.map((each) => (each.key === side.key ? side : each))
      : [...sides, side],
  }));
}

/** The teacher on this decision under other evidence than the view's own. */
export function evidenceSide(decision: DecisionModel, asked: Controls): SideSpec {
  return {
    key: evidenceSideKey(asked),
    label: evidenceSideLabel(asked),
    model: "teacher",
    context: async () => {
      const selection = selectionOf(asked);
      const { episode, decision: at, endOfTurn } = decision;
      const pair = await libraryWorker().tasks.pair(decision, episode, at, selection, { endOfTurn });
      return { promptIds: pair.graphIds, responseIds: pair.responseIds };
    },
  };
}

/** The sides that the address asks for and that are not scored yet. */
function missingSides(decision: DecisionModel): SideSpec[] {
  const known = getUi().scores[scoreKey(decision)]?.sides ?? [];
  return getUi().place.sides.flatMap((key) => {
    const asked = parseEvidenceSide(key);
    return asked === null || known.some((side) => side.key === key) ? [] : [evidenceSide(decision, asked)];
  });
}

/** Within the run that scores a decision: the sides that the address asks for. */
export function scoreWantedSides(run: ScoringRun, decision: DecisionModel): Promise<void> {
  return scoreInRun(run, missingSides(decision));
}

/** Puts a side into the address, and scores it where the decision is scored already. */
export async function addEvidenceSide(asked: Controls): Promise<void> {
  const { place, decision } = getUi();
  const key = evidenceSideKey(asked);
  if (!place.sides.includes(key)) {
    if (place.sides.length >= MOST_SIDES) return;
    navigate({ sides: [...place.sides, key] });
  }
  if (decision !== null) await scoreSides(missingSides(decision));
}

/** Scores what the address asks for and is still missing, as after a cancel. */
export async function scoreMissingSides(): Promise<void> {
  const { decision } = getUi();
  if (decision !== null) await scoreSides(missingSides(decision));
}

/** Takes a further side away, from the address and from the scores of the shown decision. */
export function removeSide(key: string): void {
  const { place, decision } = getUi();
  const compared = place.compare?.base === key || place.compare?.side === key;
  navigate({ sides: place.sides.filter((each) => each !== key), ...(compared ? { compare: null } : {}) });
  if (decision === null) return;
  changeScores(scoreKey(decision), ({ sides }) => ({ sides: sides.filter((side) => side.key !== key) }));
}
