/** Names for repeated texts: `[OBS1]`, `[OBS2]`, … in order of first occurrence. */
export interface BackReferences {
  /** `OBS`, lengthened where the evidence itself contains `[OBS`, so that a name is never recorded text. */
  prefix: string;
  /** `[OBSk]` by the text that it names. */
  names: ReadonlyMap<string, string>;
}

/**
 * A name's brackets, letters and digits take about as many tokens as three times as many characters of prose, so a
 * text must be that much longer than its name before naming it saves anything.
 */
const NAME_WEIGHT = 3;

/**
 * Names the texts that occur exactly repeated, where that makes the evidence shorter: n occurrences become one, and n
 * names. A text is named everywhere or nowhere.
 *
 * @param recorded observations and feedbacks in the order in which the plain evidence prints them
 * @param plain the plain evidence
 */
export function backReferences(recorded: readonly string[], plain: string): BackReferences {
  let prefix = "OBS";
  while (plain.includes(`[${prefix}`)) prefix += "_";
  const counts = new Map<string, number>();
  for (const text of recorded) counts.set(text, (counts.get(text) ?? 0) + 1);
  const names = new Map<string, string>();
  for (const [text, count] of counts) {
    const name = `[${prefix}${names.size + 1}]`;
    if (count * NAME_WEIGHT * name.length + text.length < count * text.length) names.set(text, name);
  }
  return { prefix, names };
}
