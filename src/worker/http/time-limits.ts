/**
 * How long a client may take to send a request. Node's own `requestTimeout` holds for every request alike, and would cut
 * a large upload off.
 */
import type { Server, ServerOptions } from "node:http";
import { ApiError } from "./errors.ts";

export interface TimeLimits {
  /** Milliseconds for a request's headers. */
  headersMs: number;
  /** Milliseconds for the whole body of a request that is not an upload. */
  bodyMs: number;
  /** Milliseconds between two pieces of an upload, which may take as long as it needs. */
  uploadIdleMs: number;
}

/** Node's own limits, but for uploads. */
export const TIME_LIMITS: TimeLimits = { headersMs: 60_000, bodyMs: 300_000, uploadIdleMs: 120_000 };

/** How often Node checks for late headers by default. */
const CHECK_MS = 30_000;

/** Options of a server that limits the time for headers and leaves bodies to `limitBodyTime` and `withIdleLimit`. */
export function headerTimeLimit(headersMs: number): ServerOptions {
  return {
    requestTimeout: 0,
    // Left out, Node takes the lesser of its default and `requestTimeout`: no limit.
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.min(headersMs, CHECK_MS),
  };
}

/** Answers 408 to a request whose body is not there after `ms` milliseconds and closes the connection. */
export function limitBodyTime(
  server: Server,
  ms: number,
  isExempt: (method: string, path: string) => boolean,
): void {
  server.on("request", (incoming, answer) => {
    const { method = "", url = "", socket } = incoming;
    if (isExempt(method, url.split("?")[0]!)) return;
    const timer = setTimeout(() => {
      if (incoming.complete) return;
      // Past the handler, which may still be waiting for the body and must not act on the rest of it.
      incoming.pause();
      // Destroying the request closes its connection: not before the answer has left.
      const destroy = () => incoming.destroy();
      if (socket.writable && !answer.headersSent) socket.end(TOO_LATE, destroy);
      else destroy();
    }, ms);
    incoming.once("close", () => clearTimeout(timer));
  });
}

const REFUSAL = JSON.stringify({ error: "the body took too long to arrive" });
const TOO_LATE = [
  "HTTP/1.1 408 Request Timeout",
  "Connection: close",
  "Content-Type: application/json",
  `Content-Length: ${REFUSAL.length}`,
  "",
  REFUSAL,
].join("\r\n");

/**
 * The pieces of a body as they come. The time that their reader takes does not count.
 *
 * @throws ApiError 408 when the next piece is not there after `ms` milliseconds
 */
export async function* withIdleLimit(
  body: ReadableStream<Uint8Array>,
  ms: number,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const idle = new Promise<never>((_, reject) => {
      const late = () =>
        reject(new ApiError(408, `nothing arrived for ${ms / 1000} s: the upload was dropped`));
      timer = setTimeout(late, ms);
    });
    try {
      const { done, value } = await Promise.race([reader.read(), idle]);
      if (done) return;
      yield value;
    } finally {
      clearTimeout(timer);
    }
  }
}
