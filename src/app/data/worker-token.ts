/** The token of the worker that serves this page, from its index; null for a page that no worker serves. */
export function workerToken(): string | null {
  if (typeof document === "undefined") return null;
  return document.querySelector<HTMLMetaElement>('meta[name="gcopd-token"]')?.content ?? null;
}
