/** Text as it will be used, with a button that copies it. */
import { useState } from "react";

export function CopyText({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState("");
  return (
    <div className="copy-text">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{text}</pre>
      <button
        type="button"
        onClick={() => {
          navigator.clipboard.writeText(text).then(
            () => setSaid("Copied."),
            () => setSaid("The browser did not let it be copied: select it by hand."),
          );
        }}
      >
        Copy {label}
      </button>
      <span role="status" className="note">
        {said}
      </span>
    </div>
  );
}
