/** Whom the page may contact, by its own Content-Security-Policy: asked before a request, to say what would allow it. */
import { workerToken } from "../../../data/worker-token.ts";

/** The sources of `connect-src` in a policy's text; null where it has no such directive. */
export function connectSources(policy: string): string[] | null {
  for (const directive of policy.split(";")) {
    const [name, ...sources] = directive.trim().split(/\s+/);
    if (name?.toLowerCase() === "connect-src") return sources;
  }
  return null;
}

/** Whether these sources name an origin. No wildcard but `*` counts: hosts are named one by one. */
export function allowsOrigin(sources: readonly string[] | null, origin: string, own: string): boolean {
  if (sources === null) return true;
  return sources.includes("*") || sources.includes(origin) || (origin === own && sources.includes("'self'"));
}

/** Whether this page may contact an origin. */
export function mayContact(origin: string): boolean {
  const meta = document.querySelector<HTMLMetaElement>('meta[http-equiv="Content-Security-Policy" i]');
  return allowsOrigin(meta === null ? null : connectSources(meta.content), origin, location.origin);
}

/** What lets the page contact an origin, in one sentence: by the worker that serves it, or on a server of one's own. */
export function howToAllow(origin: string): string {
  return workerToken() === null
    ? `this page may not contact ${origin}: add it to connect-src in the Content-Security-Policy of its index.html, or serve it with \`gcopd worker --connect ${origin}\``
    : `this page may not contact ${origin}: start it with \`gcopd worker --connect ${origin}\` (or \`npm start -- --connect ${origin}\`)`;
}
