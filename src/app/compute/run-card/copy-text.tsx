/** Text as it will be used, with a button that copies it, and others that copy what belongs to it. */
import { useState } from "react";
import { LongText } from "../../base/text/long-text.tsx";

/** Characters that are shown before one is asked for: a config may hold a whole prompt. */
const FIRST = 100_000;

interface Copy {
  label: string;
  text: string;
}

export function CopyText({ text, label, also = [] }: Copy & { also?: readonly Copy[] }) {
  const [said, setSaid] = useState("");
  return (
    <div className="copy-text">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <LongText text={text} first={FIRST} />
      </pre>
      {[{ label, text }, ...also].map((copy) => (
        <button
          key={copy.label}
          type="button"
          onClick={() => {
            navigator.clipboard.writeText(copy.text).then(
              () => setSaid(also.length === 0 ? "Copied." : `Copied: ${copy.label}.`),
              () => setSaid("The browser did not let it be copied: select it by hand."),
            );
          }}
        >
          Copy {copy.label}
        </button>
      ))}
      <span role="status" className="note">
        {said}
      </span>
    </div>
  );
}
