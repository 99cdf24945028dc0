/**
 * Errors across a worker's boundary. A structured clone keeps the message but not the class, so an `InputError` is
 * sent as data and made again on the other side: the page shows its line as it is, and any other error as a fault of
 * the workbench.
 */
import * as Comlink from "comlink";
import { DeviceError, type DeviceFault, EnvironmentError, InputError } from "../../../core/errors.ts";

interface Thrown {
  value: unknown;
}

interface Sent {
  kind: "input" | "environment" | "device" | "abort" | "fault";
  message: string;
  stack: string;
  /** The kind of a `device` error. */
  fault?: DeviceFault;
}

const original = Comlink.transferHandlers.get("throw");

/** Call once on each side, before the first message. */
export function installErrorTransfer(): void {
  if (original === undefined) throw new Error("comlink has no handler for errors");
  Comlink.transferHandlers.set("throw", {
    canHandle: original.canHandle as (value: unknown) => value is Thrown,
    serialize: ({ value }: Thrown): [Sent, Transferable[]] => [sentOf(value), []],
    deserialize: ({ kind, message, stack, fault = "lost" }: Sent): never => {
      if (kind === "device") throw new DeviceError(message, fault);
      if (kind === "environment") throw new EnvironmentError(message);
      if (kind === "input") throw new InputError(message);
      if (kind === "abort") throw new DOMException(message, "AbortError");
      const error = new Error(message);
      error.stack = stack;
      throw error;
    },
  });
}

/** What comlink takes for the answer of a worker whose call `id` threw. */
export function thrownAnswer(id: string, error: Error) {
  return { id, type: "HANDLER", name: "throw", value: sentOf(error) };
}

function sentOf(value: unknown): Sent {
  const error = value instanceof Error ? value : new Error(String(value));
  const { message, stack = "" } = error;
  if (error instanceof DeviceError) return { kind: "device", message, stack: "", fault: error.fault };
  return { kind: kindOf(error), message, stack };
}

function kindOf(error: Error): Sent["kind"] {
  if (error instanceof EnvironmentError) return "environment";
  if (error instanceof InputError) return "input";
  return error.name === "AbortError" ? "abort" : "fault";
}
