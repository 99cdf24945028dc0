/**
 * Errors across a worker's boundary. A structured clone keeps the message but not the class, so an `InputError` is
 * sent as data and made anew on the other side: the page shows its line as it is, and any other error as a fault of
 * the workbench.
 */
import * as Comlink from "comlink";
import { InputError } from "../../core/errors.ts";

interface Thrown {
  value: unknown;
}

interface Sent {
  kind: "input" | "abort" | "fault";
  message: string;
  stack: string;
}

const original = Comlink.transferHandlers.get("throw");

/** Call once on each side, before the first message. */
export function installErrorTransfer(): void {
  if (original === undefined) throw new Error("comlink has no handler for errors");
  Comlink.transferHandlers.set("throw", {
    canHandle: original.canHandle as (value: unknown) => value is Thrown,
    serialize: ({ value }: Thrown): [Sent, Transferable[]] => {
      const error = value instanceof Error ? value : new Error(String(value));
      const kind = error instanceof InputError ? "input" : error.name === "AbortError" ? "abort" : "fault";
      return [{ kind, message: error.message, stack: error.stack ?? "" }, []];
    },
    deserialize: ({ kind, message, stack }: Sent): never => {
      if (kind === "input") throw new InputError(message);
      if (kind === "abort") throw new DOMException(message, "AbortError");
      const error = new Error(message);
      error.stack = stack;
      throw error;
    },
  });
}
