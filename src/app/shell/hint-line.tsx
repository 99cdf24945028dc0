/** Where hints are shown; always there, so that screen readers hear what is put into it. */

import { useHint } from "../base/hint.ts";
import { shownText } from "../base/text/shown-text.ts";

export function HintLine() {
  const text = useHint((state) => state.text);
  return (
    <div className="hint-line" role="status" data-testid="hint">
      {text !== "" && <p>{shownText(text)}</p>}
    </div>
  );
}
