/** Who may talk to the worker: requests to its own loopback address, from its own page, with the token. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import { InputError } from "../../core/errors.ts";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "::1"]);

/** @throws InputError for an address that other machines could reach. */
export function checkLoopback(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (LOOPBACK.has(bare)) return bare;
  throw new InputError(
    `expected a loopback address (127.0.0.1, ::1 or localhost), got ${JSON.stringify(host)}`,
    {
      key: "--host",
    },
  );
}

/** 256 random bits, safe in HTML attributes and in headers. */
export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

/** @throws InputError unless the token can be sent as a bearer token and is hard to guess. */
export function checkToken(token: string, where: { file?: string; key?: string } = { key: "token" }): string {
  if (/^[A-Za-z0-9._~+/-]{16,}=*$/.test(token)) return token;
  throw new InputError("expected at least 16 characters of A–Z a–z 0–9 . _ ~ + / -", where);
}

/** Compares digests, which have one length, in a time that does not depend on where they differ. */
export function sameToken(expected: string, given: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(expected), digest(given));
}

/** `Authorization: Bearer <token>`; 401 for anything else, however it is spelled (RFC 9110, section 11.6.2). */
export function requireToken(token: string): MiddlewareHandler {
  return async (c, next) => {
    const given = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(c.req.header("authorization") ?? "")?.[1];
    if (given !== undefined && sameToken(token, given)) return next();
    const error = "Authorization: expected `Bearer <token>` with the token that this worker was started with";
    return c.json({ error }, 401, { "WWW-Authenticate": 'Bearer realm="gcopd"' });
  };
}

/**
 * Refuses what a browser says another site asked for. A program sends no such header, and the page is of the same
 * origin; another port of this machine is another origin and the same site.
 */
export const refuseOtherSites: MiddlewareHandler = async (c, next) => {
  const site = c.req.header("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return next();
  return c.json({ error: `Sec-Fetch-Site: expected same-origin, got ${JSON.stringify(site)}` }, 403);
};

/**
 * A `Range` that is not one range of bytes is as none: the whole file is the answer, as RFC 9110 (section 14.2) allows
 * for every range.
 */
export const ignoreOtherRanges: MiddlewareHandler = async (c, next) => {
  const range = c.req.header("range");
  const [, start, end] = /^bytes=(\d*)-(\d*)$/i.exec(range ?? "") ?? [];
  const isOne =
    start !== undefined &&
    end !== undefined &&
    start + end !== "" &&
    (start === "" || end === "" || Number(start) <= Number(end));
  if (range !== undefined && !isOne) c.req.raw.headers.delete("range");
  await next();
};

/**
 * Refuses requests that name another host (DNS rebinding) or come from another origin, before anything else looks at
 * them. `port` is asked for at each request: it is known only once the server listens. It is null on a unix socket, which
 * a tunnel may give any port: there a request has to come from the origin that it names as its host.
 */
export function requireOwnAddress(port: () => number | null): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header("host")?.toLowerCase();
    const hosts = ownHosts(port(), host);
    if (host === undefined || !hosts.includes(host)) {
      return c.json({ error: `Host: expected ${hosts.join(" or ")}` }, 403);
    }
    const origin = c.req.header("origin")?.toLowerCase();
    if (origin !== undefined && !hosts.some((name) => origin === `http://${name}`)) {
      return c.json({ error: `Origin: expected http://${hosts.join(" or http://")}` }, 403);
    }
    await next();
  };
}

function ownHosts(port: number | null, host = ""): string[] {
  const names = ["127.0.0.1", "localhost", "[::1]"];
  if (port !== null)
    return names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  return names.includes(host.replace(/:\d{1,5}$/, "")) ? [host] : names.map((name) => `${name}:PORT`);
}

/**
 * An origin that the page may read files from beside the worker's own. `InputError` unless it is `https://HOST[:PORT]`, or
 * `http://` on this machine: nothing else, no pattern and no path.
 */
export function checkConnectOrigin(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Refused below.
  }
  const plain =
    url !== undefined &&
    /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/.test(url.hostname) &&
    url.origin === text.replace(/\/$/, "").toLowerCase();
  if (plain && (url!.protocol === "https:" || (url!.protocol === "http:" && isLoopback(url!.hostname)))) {
    return url!.origin;
  }
  throw new InputError(
    `expected https://HOST or https://HOST:PORT (http:// on this machine only), got ${JSON.stringify(text)}`,
    { key: "--connect" },
  );
}

const isLoopback = (host: string): boolean => LOOPBACK.has(host.replace(/^\[(.*)\]$/, "$1"));

/** What a browser could let a page do, and this page never does. */
const UNUSED = [
  ...["accelerometer", "camera", "displayCapture", "geolocation", "gyroscope", "hid", "magnetometer"],
  ...["microphone", "midi", "payment", "serial", "usb"],
] as const;

/**
 * The page may run its own scripts, workers and WebAssembly and talk to this worker and to the origins that were named
 * when it was started, and nothing else: no other connection, frame, form or inline code. Isolated from other origins, so that it may share memory between threads.
 */
export function pageHeaders(connect: readonly string[] = []): MiddlewareHandler {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'", "'wasm-unsafe-eval'"],
      workerSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", "data:", "blob:"],
      fontSrc: ["'self'", "data:"],
      connectSrc: ["'self'", "blob:", ...connect],
      manifestSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      // Of src/app/base/worker/start-worker.ts.
      trustedTypes: ["gcopd-workers"],
    },
    crossOriginOpenerPolicy: "same-origin",
    crossOriginEmbedderPolicy: "require-corp",
    crossOriginResourcePolicy: "same-origin",
    referrerPolicy: "no-referrer",
    permissionsPolicy: Object.fromEntries(UNUSED.map((feature) => [feature, []])),
    xContentTypeOptions: true,
    xFrameOptions: "DENY",
    // Plain HTTP on loopback: nothing to transport strictly.
    strictTransportSecurity: false,
  });
}
