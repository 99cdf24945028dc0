/** Text of a record, isolated from the direction of what stands around it; a very long one by its beginning first. */
import { useState } from "react";
import { beginning, shownText } from "./shown-text.ts";

/** Longer texts begin with so much of them, in UTF-16 units, until somebody wants the rest. */
export const FIRST_SHOWN = 20_000;
/** What one more press shows: more at once would hold the page up while it is laid out. */
const MORE = 500_000;

export function LongText({ text, first = FIRST_SHOWN }: { text: string; first?: number }) {
  if (text.length <= first) return <bdi className="record-text">{shownText(text)}</bdi>;
  // How much of it somebody wanted is of this text, and not of the next one in its place.
  return <CutText key={text.length} text={text} first={first} />;
}

function CutText({ text, first }: { text: string; first: number }) {
  const [most, setMost] = useState(first);
  const cut = text.length > most;
  return (
    <>
      <bdi className="record-text">{shownText(cut ? beginning(text, most) : text)}</bdi>
      {cut && (
        <span className="cut">
          … {most.toLocaleString("en")} of {text.length.toLocaleString("en")} characters{" "}
          <button type="button" onClick={() => setMost(most + MORE)}>
            {text.length <= most + MORE
              ? `Show all ${text.length.toLocaleString("en")} characters`
              : `Show ${MORE.toLocaleString("en")} more`}
          </button>
        </span>
      )}
    </>
  );
}
