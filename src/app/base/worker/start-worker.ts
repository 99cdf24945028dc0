/**
 * Web Workers of the page's own scripts. The page's Content-Security-Policy names this one policy for Trusted Types:
 * nothing else can turn text into HTML or into the address of a script.
 */

/** What TypeScript's library lacks of Trusted Types; a browser without them has no factory. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL: (url: string) => string };
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy("gcopd-workers", { createScriptURL: ownScript });

/** @throws TypeError for anything that the page's own server did not send, `blob:` and `data:` included */
export function ownScript(url: string): string {
  if (new URL(url, location.href).href.startsWith(`${location.origin}/`)) return url;
  throw new TypeError(`no script of this page: ${url}`);
}

export function startWorker(url: string, name: string): Worker {
  return new Worker(policy?.createScriptURL(url) ?? ownScript(url), { type: "module", name });
}
