/** Errors as the user reads them: one line. */
import { InputError } from "../../core/errors.ts";
import type { Notice } from "../state/store.ts";

/** Bad input speaks for itself; anything else is said to be a fault of the workbench, and logged whole. */
export function describeFault(error: unknown): string {
  if (error instanceof InputError) return error.message;
  console.error(error);
  const message = error instanceof Error ? error.message : String(error);
  return `The workbench failed: ${message.replace(/\s+/g, " ")}`;
}

export function faultNotice(error: unknown): Notice {
  return { kind: "error", text: describeFault(error) };
}

/** True for work that was stopped on request. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
