/** What the columns are called, and which of them are named at a given scale. */

import type { Axis } from "../../../url/place.ts";
import type { GraphLayout } from "../../model.ts";

export interface AxisLabel {
  column: number;
  text: string;
}

/** The name of every fifth column, or tenth in a wide drawing; by cost they are counted from the right. */
export function axisLabels(axis: Axis, { columns, lead }: GraphLayout): AxisLabel[] {
  const every = columns > 60 ? 10 : 5;
  const labels: AxisLabel[] = [];
  for (let column = 0; column < columns; column++) {
    if (axis === "step") {
      if (column % every === 0) labels.push({ column, text: column === 0 ? "step 0" : String(column) });
    } else if (column < lead) {
      if (column === 0) labels.push({ column, text: "no verified success" });
    } else {
      const cost = columns - 1 - column;
      if (cost % every === 0) labels.push({ column, text: cost === 0 ? "cost 0" : String(cost) });
    }
  }
  return labels;
}
