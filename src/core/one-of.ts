/** Whether a text is one of some names: what a link, a field or a menu says is checked, not assumed. */
export function isOneOf<T extends string>(names: readonly T[], text: string): text is T {
  return names.some((name) => name === text);
}
