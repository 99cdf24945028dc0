/** Where the stages of runs begin, for the marks on their charts. */
import { shownName } from "../../base/text/shown-text.ts";
import { numberOf, type Series } from "./series.ts";

export interface StageSpan {
  name: string;
  /** Its first step. */
  from: number;
  /** Which curves it is of; null where it is of all. */
  who: string | null;
}

/** The stages of a run, from its steps: a stage without a step has no mark. */
function ofRun({ points, stages }: Series[0]["figures"]): { name: string; from: number }[] {
  return points.flatMap(({ stage, step }, n) =>
    stage === points[n - 1]?.stage
      ? []
      : [{ name: shownName(stages[stage]?.name ?? `stage ${stage + 1}`, 40), from: step }],
  );
}

/** The stages of all curves by their first step; the same stage of several curves once. */
export function stageSpans(charted: readonly { series: Series; place: number }[]): StageSpan[] {
  const places = new Map<string, { name: string; from: number; places: Set<number> }>();
  for (const { series, place } of charted)
    for (const { figures } of series)
      for (const { name, from } of ofRun(figures)) {
        const key = `${from} ${name}`;
        const known = places.get(key) ?? { name, from, places: new Set() };
        places.set(key, known);
        known.places.add(place);
      }
  return [...places.values()]
    .sort((a, b) => a.from - b.from)
    .map(({ name, from, places: of }) => ({
      name,
      from,
      who: of.size === charted.length ? null : [...of].map(numberOf).join(" "),
    }));
}
