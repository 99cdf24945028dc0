/** A hub in one function, for tests: what `fetch` answers, how it breaks, and what it was asked for. */
import { createHash } from "node:crypto";

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";
export const ENDPOINT = "https://hub.test";

export class FakeHub {
  readonly asked: string[] = [];
  /** Bytes after which a connection breaks. */
  cutAfter = Number.POSITIVE_INFINITY;
  /** SHA-256 that is announced; null: the right one. */
  announced: string | null = null;
  commit = COMMIT;

  constructor(readonly files: ReadonlyMap<string, Uint8Array>) {}

  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    const range = new Headers(init?.headers).get("range");
    this.asked.push(`${url.pathname}${range === null ? "" : ` ${range}`}`);
    init?.signal?.throwIfAborted();
    if (url.pathname.startsWith("/api/models/")) {
      const siblings = [...this.files].map(([rfilename, bytes]) => ({
        rfilename,
        size: bytes.length,
        ...(rfilename.endsWith(".safetensors") && {
          lfs: { sha256: this.announced ?? createHash("sha256").update(bytes).digest("hex") },
        }),
      }));
      return Response.json({ sha: this.commit, siblings });
    }
    const bytes = this.files.get(decodeURIComponent(url.pathname.split("/").at(-1)!));
    if (bytes === undefined) return new Response(null, { status: 404 });
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    return new Response(this.#body(bytes.subarray(start), init?.signal ?? undefined), {
      status: start > 0 ? 206 : 200,
    });
  };

  #body(bytes: Uint8Array, signal?: AbortSignal): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream({
      pull: (controller) => {
        if (signal?.aborted) return controller.error(signal.reason);
        if (at >= this.cutAfter) return controller.error(new TypeError("network error"));
        const end = Math.min(at + 50_000, this.cutAfter, bytes.length);
        if (end > at) controller.enqueue(bytes.slice(at, end));
        at = end;
        if (at === bytes.length) controller.close();
      },
    });
  }
}
