/** Where the stages of runs begin, for the marks on their charts. */
import { shortened, shownName } from "../../../base/text/shown-text.ts";
import { numberOf, type Series } from "../series.ts";

export interface StageSpan {
  name: string;
  /** Its first step. */
  from: number;
  /** Which curves it is of; null where it is of all. */
  who: string | null;
}

/** Widths of small text, in pixels: of a character, and of the room around a name. */
const CHARACTER = 6.5;
const AROUND = 8;

export interface StageName {
  text: string;
  /** Pixels from the left of the end that it is anchored at. */
  x: number;
  anchor: "start" | "end";
}

/**
 * Where the names of stages stand: behind the stage's beginning, shortened to the room up to the next one. A last stage
 * without room, as one that has just begun, is named before the chart's right end. Null where there is no room at all.
 * @param at pixels from the left at which each begins
 */
export function stageNames(
  texts: readonly string[],
  at: readonly number[],
  right: number,
): (StageName | null)[] {
  const names: (StageName | null)[] = [];
  let end = right;
  for (let n = texts.length - 1; n >= 0; n--) {
    const text = texts[n]!;
    const fits = Math.floor((end - at[n]! - AROUND) / CHARACTER);
    if (fits >= Math.min(4, text.length)) {
      names.unshift({ text: shortened(text, fits), x: at[n]! + AROUND / 2, anchor: "start" });
      end = at[n]!;
    } else if (n === texts.length - 1) {
      const short = shortened(text, Math.floor((right - (at[n - 1] ?? 0)) / 2 / CHARACTER));
      names.unshift({ text: short, x: right, anchor: "end" });
      end = right - AROUND - CHARACTER * short.length;
    } else {
      names.unshift(null);
      end = at[n]!;
    }
  }
  return names;
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
