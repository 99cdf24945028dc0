/** Copies a text as Markdown and says so. */
import { useState } from "react";

export function CopyButton({ text }: { text: () => string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {copied ? "Copied" : "Copy as Markdown"}
    </button>
  );
}
