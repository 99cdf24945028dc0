/** Connections whose request was answered before its body was read. */
import type { HttpBindings } from "@hono/node-server";
import type { MiddlewareHandler } from "hono";

/**
 * Closes the connection after an answer that leaves a part of the body unread: the HTTP server would stop reading the
 * rest half a second later and cut the connection off, under the client's next request.
 */
export const closeUnlessRead: MiddlewareHandler = async (c, next) => {
  await next();
  const { incoming }: Partial<HttpBindings> = c.env ?? {};
  if (incoming === undefined || incoming.readableEnded) return;
  if (!incoming.complete || incoming.readableLength > 0) c.res.headers.set("Connection", "close");
};
