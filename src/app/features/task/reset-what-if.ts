/** Back to the full method, and the way back from there. */

import { navigate } from "../../data/navigate.ts";
import { getData } from "../../data/store.ts";
import { undoList } from "../../data/undo.ts";
import { FULL_METHOD, NO_WHAT_IF, type WhatIfFields, whatIfWords } from "../../url/what-if.ts";

export function resetWhatIf(): void {
  const { place } = getData();
  const words = whatIfWords(place);
  if (words.length === 0) return;
  const names = Object.keys(NO_WHAT_IF) as (keyof WhatIfFields)[];
  const before: Partial<WhatIfFields> = Object.fromEntries(names.map((name) => [name, place[name]]));
  navigate(NO_WHAT_IF, "push");
  undoList.offer(`${FULL_METHOD} again; the what-if was: ${words.join(" · ")}`, () =>
    navigate(before, "push"),
  );
}
