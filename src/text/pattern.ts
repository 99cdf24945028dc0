/**
 * Case-insensitive groups of a Split pattern, spelled out. Tokenizer patterns are written for Oniguruma, whose
 * `(?i:'s)` also takes U+017F (ſ) and whose `(?i:k)` takes U+212A (K); JavaScript engines differ on both, and older
 * ones do not know the group at all.
 */

const GROUP = /\(\?i:([^()[\]\\]*)\)/g;

/** Letters beyond ASCII that fold to an ASCII one. */
const OTHER_CASES: Readonly<Record<string, string>> = { s: "\u017f", k: "\u212a" };

/** Rewrites each `(?i:…)` that holds only literal ASCII characters and `|` into explicit classes. */
export function spellOutCase(pattern: string): string {
  return pattern.replace(GROUP, (group, body: string) => {
    if (!/^[\x20-\x7e]*$/.test(body) || /[.*+?{}^$]/.test(body)) return group;
    const spelled = body.replace(/[a-z]/gi, (letter) => {
      const lower = letter.toLowerCase();
      return `[${lower}${letter.toUpperCase()}${OTHER_CASES[lower] ?? ""}]`;
    });
    return `(?:${spelled})`;
  });
}
