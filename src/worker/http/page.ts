/** Serves the built page: its index with the token in it, everything else as plain files with ranges and gzip. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HttpBindings } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono, type MiddlewareHandler } from "hono";
import { COMPRESSIBLE_CONTENT_TYPE_REGEX, compress } from "hono/compress";
import { etag } from "hono/etag";
import { plainLine } from "../../core/plain-text.ts";
import { fileError, isSystemError, unlessPassing } from "../../node/file-error.ts";
import { answerError } from "./errors.ts";
import { isForeignUser } from "./peer.ts";
import { pageHeaders } from "./security.ts";

/** Kinds of file of this project that general tables of types do not know. */
const TYPES: Record<string, string> = {
  jsonl: "application/x-ndjson; charset=utf-8",
  wgsl: "text/plain; charset=utf-8",
  jinja: "text/plain; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  safetensors: "application/octet-stream",
};

/** The page's index with `<meta name="gcopd-token">` as the first thing in its head. */
export function withToken(html: string, token: string): string {
  const head = /<head(\s[^>]*)?>/i.exec(html);
  if (head === null) throw new Error("the page's index.html has no <head>");
  const end = head.index + head[0].length;
  return `${html.slice(0, end)}\n    <meta name="gcopd-token" content="${token}" />${html.slice(end)}`;
}

/** The page's own policy, made as wide as the worker's: a browser holds a page to both. */
function withConnect(html: string, connect: readonly string[]): string {
  return html.replace("connect-src 'self' blob:", ["connect-src 'self' blob:", ...connect].join(" "));
}

export interface PageOptions {
  /** Origins that the page may read files from. */
  connect?: readonly string[];
  /** Folder of the built page. */
  folder: string;
  /** Null puts none into the index: whoever is at the other end of a tunnel cannot be told from other users. */
  token: string | null;
}

/** Everything outside /api. */
export function pageRoutes(options: PageOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const connect = options.connect ?? [];
  app.onError(answerError);
  app.use(pageHeaders(connect));
  app.use(
    compress({
      encoding: "gzip",
      contentTypeFilter: (type) =>
        COMPRESSIBLE_CONTENT_TYPE_REGEX.test(type) || type.startsWith("application/x-ndjson"),
    }),
  );

  for (const path of ["/", "/index.html"]) {
    app.get(path, async (c) => {
      let html: string;
      try {
        html = withConnect(await readFile(join(options.folder, "index.html"), "utf8"), connect);
      } catch (error) {
        if (!isSystemError(error)) throw error;
        const isMissing = ["ENOENT", "ENOTDIR"].includes(error.code);
        // By its name alone: whoever asks needs no token.
        const reason = (fileError(error, "index.html", "read") as Error).message;
        const why = isMissing ? "The page is not built yet: run `npm run build`." : reason;
        return c.text(`${why}\n`, 503, { "Cache-Control": "no-store" });
      }
      const { token } = options;
      const shown = token === null || isForeignUser(c.env.incoming.socket) ? html : withToken(html, token);
      return c.html(shown, 200, { "Cache-Control": "no-store" });
    });
  }

  app.use(etag());
  app.use(async (c, next) => {
    await next();
    const { headers, status } = c.res;
    if (status !== 200 && status !== 206) return;
    const type = TYPES[c.req.path.slice(c.req.path.lastIndexOf(".") + 1).toLowerCase()];
    if (type !== undefined) headers.set("Content-Type", type);
    headers.set("Accept-Ranges", "bytes");
    // Vite puts a digest of the content into the names under assets/.
    const immutable = c.req.path.startsWith("/assets/");
    headers.set("Cache-Control", immutable ? "public, max-age=31536000, immutable" : "no-cache");
    const size = headers.get("Content-Range")?.split("/")[1] ?? headers.get("Content-Length") ?? "";
    const changed = Date.parse(headers.get("Last-Modified") ?? "");
    headers.set("ETag", `"${size}-${changed.toString(36)}"`);
  });
  // The folder may be built after the worker has started.
  let files: MiddlewareHandler | null = null;
  app.use(async (c, next) => {
    if (files === null && (await stat(options.folder).catch(unlessPassing)) !== null)
      files = serveStatic({ root: options.folder, precompressed: true });
    return files === null ? next() : files(c, next);
  });
  app.notFound((c) => c.text(`${plainLine(c.req.path)}: no such file\n`, 404));
  return app;
}
