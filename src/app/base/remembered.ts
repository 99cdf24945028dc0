/** What the browser remembers for the user, where it lets a page remember: strings by key, no part of the address. */

/** What was remembered; "" without any. */
export function remembered(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** A page that may not store anything forgets it with the tab. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {}
}
