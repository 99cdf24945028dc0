/** Values longer than this are cut. */
const LONGEST = 60;
/** Differences that a message names. */
const MOST_NAMED = 5;

/**
 * What differs between two JSON values, key by key: `settings.clip was 0.3, is 0.1`. A list that is short is one value; of a
 * long one, the entries that differ.
 */
export function changedKeys(was: unknown, is: unknown, key = ""): string[] {
  if (isKeyed(was) && isKeyed(is))
    return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) =>
      changedKeys(was[name], is[name], key === "" ? name : `${key}.${name}`),
    );
  const texts = [was, is].map((value) => JSON.stringify(value) ?? "absent");
  if (texts[0] === texts[1]) return [];
  if (Array.isArray(was) && Array.isArray(is) && texts.some(({ length }) => length > LONGEST)) {
    if (was.length === is.length) return was.flatMap((value, n) => changedKeys(value, is[n], `${key}[${n}]`));
    return [`${key} was a list of ${was.length}, is one of ${is.length}`];
  }
  const [before, now] = texts.map((text) =>
    text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}...` : text,
  );
  return [`${key} was ${before}, is ${now}`];
}

/** The same as part of a message, cut to the first few. */
export function changedText(changed: readonly string[]): string {
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : "";
  return `${changed.slice(0, MOST_NAMED).join("; ")}${more}`;
}

const isKeyed = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
