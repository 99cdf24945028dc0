/** Errors as the user reads them: one line. */
import { DeviceError, InputError } from "../../core/errors.ts";
import type { Notice } from "./notice.ts";
import { beginning, shownName, shownText } from "./text/shown-text.ts";

/** Messages quote names of records, which may be of any length. */
const LONGEST = 2000;

/**
 * Bad input and a failed device speak for themselves, and what was stopped is no fault; anything else is called a fault of
 * the workbench, and logged whole.
 */
export function describeFault(error: unknown): string {
  if (isAbort(error)) return "Stopped before it was done.";
  if (error instanceof InputError || error instanceof DeviceError) {
    const { message } = error;
    const shown = shownText(message.length <= LONGEST ? message : `${beginning(message, LONGEST)}…`);
    return error instanceof DeviceError && error.fault === "lost"
      ? `${shown.replace(/\.$/, "")}. The next work opens another.`
      : shown;
  }
  console.error(error);
  const message = error instanceof Error ? error.message : String(error);
  return `The workbench failed: ${shownName(message, LONGEST)}`;
}

export function faultNotice(error: unknown): Notice {
  return { kind: "error", text: describeFault(error) };
}

/** True when the device failed: its worker is of no further use. */
export function isDeviceFault(error: unknown): boolean {
  return error instanceof DeviceError;
}

/** True for work that was stopped on request. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
