/** The first JSON value of a text that may be cut. */

/**
 * The object that starts at the first non-space character from `start` on, and where it ends. Undefined when none
 * starts there, it does not end in `text`, or it is not JSON.
 */
export function completeValue(text: string, start: number): { value: unknown; end: number } | undefined {
  let from = start;
  while (from < text.length && /\s/.test(text[from]!)) from++;
  if (text[from] !== "{") return undefined;
  let depth = 0;
  let inString = false;
  for (let i = from; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === "\\") i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") {
      depth--;
      if (depth > 0) continue;
      try {
        return { value: JSON.parse(text.slice(from, i + 1)), end: i + 1 };
      } catch {
        return undefined;
      }
    }
  }
  return undefined;
}
