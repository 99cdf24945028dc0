/**
 * Where a hub sends the downloads of large files on to. The hosts change (cdn-lfs.huggingface.co, cas-bridge.xethub.hf.co,
 * us.aws.cdn.hf.co, …), so that those of the public hub are named by their domains. Used for the page's security policy
 * alone: which host it is, the hub says with each file.
 */
import { DEFAULT_ENDPOINT } from "./hub-client.ts";

const REDIRECTS: ReadonlyMap<string, readonly string[]> = new Map([
  [DEFAULT_ENDPOINT, ["https://*.huggingface.co", "https://*.hf.co"]],
]);

/** Origins, and the hosts that hubs among them redirect to, as sources of a Content-Security-Policy. */
export function withRedirects(origins: readonly string[]): string[] {
  return origins.flatMap((origin) => [origin, ...(REDIRECTS.get(origin) ?? [])]);
}
