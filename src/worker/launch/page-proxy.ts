/**
 * The page of a worker behind a unix socket, at a port of this machine. That worker cannot tell who asks: its token is
 * added here, where the kernel says who opened the connection, so that no address holds it.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { InputError } from "../../core/errors.ts";
import { isSystemError } from "../../node/file-error.ts";
import { withToken } from "../http/page.ts";
import { isForeignUser } from "../http/peer.ts";

export interface PageProxy {
  port: number;
  /** Ends with its connections. */
  close(): void;
}

/**
 * @param port 0 for any free one
 * @param socket of the worker; while nobody listens there, connections end without an answer, as without this
 * @param token asked for with each page; null while it is not known
 * @throws InputError for a port that is in use
 */
export async function servePage(
  port: number,
  socket: string,
  token: () => string | null,
): Promise<PageProxy> {
  const server = createServer((asked, answer) => forward(asked, answer, socket, token));
  // An upload may take as long as it takes.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        isSystemError(error) && error.code === "EADDRINUSE"
          ? new InputError(`port ${port} of this machine is in use: choose another`, { key: "--port" })
          : error,
      ),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function forward(
  asked: IncomingMessage,
  answer: ServerResponse,
  socketPath: string,
  token: () => string | null,
): void {
  const { method, url: path, headers } = asked;
  const isIndex = method === "GET" && /^\/(index\.html)?(\?|$)/.test(path ?? "");
  const sent = request({
    ...{ socketPath, method, path, agent: false },
    headers: isIndex ? { ...headers, "accept-encoding": "identity" } : headers,
  });
  sent.on("response", (got) => {
    const now = token();
    const { statusCode = 502 } = got;
    if (!isIndex || statusCode !== 200 || now === null || isForeignUser(asked.socket)) {
      answer.writeHead(statusCode, got.headers);
      got.pipe(answer);
      return;
    }
    const { "content-length": _, "transfer-encoding": __, ...rest } = got.headers;
    text(got).then(
      (html) => answer.writeHead(statusCode, rest).end(withToken(html, now)),
      () => asked.socket.destroy(),
    );
  });
  sent.on("error", () => asked.socket.destroy());
  answer.on("close", () => sent.destroy());
  asked.pipe(sent);
}
