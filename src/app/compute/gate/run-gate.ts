/**
 * Scores decisions with known optimal actions under each context, at random over all of them, and shows the figures as
 * they arrive. Stopped, it goes on where it was.
 */
import { InputError } from "../../../core/errors.ts";
import { type GateCase, type GateDecision, gateDecision, gateOrder } from "../../../core/gate/index.ts";
import type { SourceSelection } from "../../../core/retrieval/selection.ts";
import { remaining } from "../../base/eta.ts";
import { describeFault, faultNotice } from "../../base/faults.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { KnownOptimal, LibrarySummary, OptimalDecision } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import { shippedLink, shippedName } from "../../url/library-link.ts";
import { HOME, type Place } from "../../url/place.ts";
import { NO_CONTROLS, selectionOf } from "../../url/what-if.ts";
import { memory, requirePlan } from "../models/memory.ts";
import { models } from "../models/models.ts";
import { placeFollower } from "../open/follow-place.ts";
import { useOptimal } from "../open/optimal.ts";
import { planScoring } from "../scoring/score.ts";
import { type ScoringRun, scoringRuns } from "../scoring/scoring-run.ts";
import { getUi, setUi, useUi } from "../store.ts";
import { GATE_SEED, type Gate, type GateSetting, type LeftOut, useGate } from "./gate-store.ts";

/** The key of the job in the store's `scoring`: of no decision. */
export const GATE_KEY = "gate";

/** A pass of this many milliseconds is long enough to be worth its overhead, and short enough to be watched. */
const PASS_MS = 300;
const MOST_TOGETHER = 16;

/** Milliseconds between two drawings of the figures: each takes thousands of resamples. */
const SUMMARY_MS = 700;

/** The sources that take part: those of the address. Its control does not count, since a test compares all of them. */
export function gateSelection({
  sourcesPerTask,
  augmentation,
  subset,
}: Pick<Place, "sourcesPerTask" | "augmentation" | "subset">): SourceSelection {
  return selectionOf({ ...NO_CONTROLS, sourcesPerTask, augmentation, subset });
}

/** One press: the miniature world opens, and its test begins. */
export function askEvidenceTest(): void {
  placeFollower.tryAgain();
  navigate({ ...HOME, ...shippedLink("miniature"), view: "evidence-test" }, "push");
  useGate.setState({ wanted: true });
}

/** That place: a test that was asked for begins nowhere else. */
const isAskedFor = ({ library, view }: Pick<Place, "library" | "view">): boolean =>
  shippedName({ library }) === "miniature" && view === "evidence-test";

// Who goes elsewhere, as where the miniature world does not open, wants it no longer.
useUi.subscribe(({ place }, before) => {
  if (place !== before.place && !isAskedFor(place)) useGate.setState({ wanted: false });
});

/** What is asked for now. */
export function gateSetting(
  library: string,
  known: KnownOptimal,
  selection: SourceSelection,
  contexts: GateSetting["contexts"],
): GateSetting {
  const { weights } = memory();
  return {
    ...{ library, known, selection, contexts },
    ...{ teacherFrom: models.source("teacher"), weights },
  };
}

/** Results that a setting goes on from; null where they are of another one. */
export function presentGate(gate: Gate | null, setting: GateSetting): Gate | null {
  if (gate === null) return null;
  const parts = ({ library, selection, contexts, weights }: GateSetting) =>
    JSON.stringify([library, selection, contexts, weights]);
  const same =
    parts(gate) === parts(setting) &&
    gate.known === setting.known &&
    gate.teacherFrom === setting.teacherFrom;
  return same ? gate : null;
}

/**
 * The optimal actions of a library, once its models are the ones that are taken. Null where it has none, where its models
 * cannot be had, which is shown, and where another library, with a teacher of its own, is shown by now.
 */
export async function optimalWithModels(library: LibrarySummary) {
  const known = useOptimal.getState()[library.id] ?? null;
  if (known === null) return null;
  try {
    await models.takeShipped(library.link);
  } catch (error) {
    setUi({ notice: faultNotice(error) });
    return null;
  }
  return getUi().library?.id === library.id ? known : null;
}

/** Scores on from what is there, up to the limit. */
export async function scoreGate(): Promise<void> {
  const { library, place } = getUi();
  const { limit, contexts, gate } = useGate.getState();
  useGate.setState({ wanted: false });
  if (library === null) return;
  const known = await optimalWithModels(library);
  if (known === null) return;
  await scoringRuns.run("gate", GATE_KEY, async (run) => {
    await run.open("teacher");
    const teacher = getUi().models.teacher?.info;
    if (teacher === undefined) throw new Error("the teacher is not open any more");
    const setting = gateSetting(library.id, known, gateSelection(place), contexts);
    const before = presentGate(gate, setting);
    const same =
      before !== null && JSON.stringify(before.teacher) === JSON.stringify(teacher) ? before : null;
    const order = gateOrder(known.decisions, GATE_SEED, limit ?? undefined);
    const decisions = [...(same?.decisions ?? [])];
    const leftOut = [...(same?.leftOut ?? [])];
    const tell = async (): Promise<void> => {
      const summary = await run.wait(libraryWorker().gateSummary(decisions, GATE_SEED));
      useGate.setState({
        gate: { ...setting, teacher, decisions: [...decisions], leftOut: [...leftOut], summary },
      });
    };
    const plan = new PassPlan(run);
    const began = performance.now();
    const from = decisions.length + leftOut.length;
    let told = Number.NEGATIVE_INFINITY;
    let together = 1;
    let next = prepareSome(from);
    run.show("Scoring decisions", from, order.length, null, "decisions");
    for (let at = from; at < order.length; ) {
      const some = await run.wait(next);
      run.checkStop();
      at += some.length;
      next = prepareSome(at);
      const cases: GateCase[] = [];
      for (const each of some) "reason" in each ? leftOut.push(each) : cases.push(each);
      const passBegan = performance.now();
      if (cases.length > 0) {
        await plan.cover(cases);
        decisions.push(...(await scoreCases(run, cases)));
      }
      const took = performance.now() - passBegan;
      together = took < PASS_MS ? Math.min(MOST_TOGETHER, 2 * together) : took > 2 * PASS_MS ? 1 : together;
      const each = order.slice(from).map(() => 1);
      const eta = remaining(each, at - from, (performance.now() - began) / 1000);
      run.show("Scoring decisions", at, order.length, eta, "decisions");
      if (at < order.length && performance.now() - told < SUMMARY_MS) continue;
      await tell();
      run.checkStop();
      told = performance.now();
    }
    if (decisions.length === 0 && leftOut.length > 0) {
      // There is nothing to go on from: the next press tries all of them again.
      useGate.setState({ gate: null });
      throw new InputError(`no decision can be scored: ${leftOut[0]!.reason}`);
    }

    /** Made ready while the device is at the ones before. */
    function prepareSome(at: number): Promise<(GateCase | LeftOut)[]> {
      const some = Promise.all(order.slice(at, at + together).map((each) => prepareCase(each, setting)));
      // Its fault is reported where it is awaited; work that ended earlier never asks.
      some.catch(() => {});
      return some;
    }
  });
}

/** A decision under the contexts of a setting, ready to be scored; or why it cannot be. */
export async function prepareCase(
  each: OptimalDecision,
  { library, selection, contexts }: Pick<GateSetting, "library" | "selection" | "contexts">,
): Promise<GateCase | LeftOut> {
  try {
    return await libraryWorker().tasks.gateCase({ ...each, library }, selection, contexts);
  } catch (error) {
    // Only what is wrong with the decision itself leaves it out.
    if (!(error instanceof InputError)) throw error;
    const { episode, decision } = each;
    return { episode, decision, reason: describeFault(error) };
  }
}

/** Passes that are planned for the longest sequence so far, with some room: most cases need no plan of their own. */
export class PassPlan {
  readonly #run: ScoringRun;
  #sequence = 0;
  #response = 0;

  constructor(run: ScoringRun) {
    this.#run = run;
  }

  async cover(cases: readonly GateCase[]): Promise<void> {
    const all = cases.flatMap(({ requests }) => requests);
    const prompt = Math.max(...all.map(({ promptIds }) => promptIds.length));
    const response = Math.max(...all.map(({ responseIds }) => responseIds.length));
    if (prompt <= this.#sequence && response <= this.#response) return;
    this.#sequence = Math.max(this.#sequence, Math.ceil(1.25 * prompt));
    this.#response = Math.max(this.#response, 2 * response);
    const lengths = { vanilla: 0, graph: this.#sequence, response: this.#response };
    const { wait } = this.#run;
    const passes = await wait(requirePlan("score", () => planScoring(lengths, { student: false })));
    await wait((await models.worker()).api.takePasses(passes));
  }
}

export async function scoreCases(run: ScoringRun, cases: readonly GateCase[]): Promise<GateDecision[]> {
  // In one call: what the contexts of a decision share is computed once.
  const results = await run.together(
    "teacher",
    cases.flatMap(({ requests }) => requests),
    {},
  );
  let at = 0;
  return cases.map((each) => {
    const of = results.slice(at, at + each.requests.length);
    at += each.requests.length;
    return gateDecision(each, of);
  });
}
