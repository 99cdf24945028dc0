/** What was chosen last comes first, for as long as the page lives: names of a user's tasks are stored nowhere. */

const MOST = 6;

let recent: readonly string[] = [];

export function chosen(id: string): void {
  recent = [id, ...recent.filter((each) => each !== id)].slice(0, MOST);
}

/** Ids, the last chosen first. */
export const recentIds = (): readonly string[] => recent;

/** The entries with those that were chosen lately before the others. */
export function recentFirst<T extends { id: string }>(entries: readonly T[], ids = recent): T[] {
  const last = ids.flatMap((id) => entries.find((each) => each.id === id) ?? []);
  return [...last, ...entries.filter(({ id }) => !ids.includes(id))];
}
