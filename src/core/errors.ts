import { plainLine } from "./plain-text.ts";

/**
 * The one error for bad input. Its message is a single line that names the place (file, line, key) and what was
 * expected; the command line prints it and exits 1, the worker answers 400 with it, the page shows it.
 */
export class InputError extends Error {
  override readonly name = "InputError";
  /** The message without its place. */
  readonly reason: string;
  constructor(
    message: string,
    readonly where: { file?: string; line?: number; key?: string } = {},
    options?: ErrorOptions,
  ) {
    const place = [where.file, where.line === undefined ? undefined : `line ${where.line}`, where.key]
      .filter((part) => part !== undefined && part !== "")
      .join(", ");
    super(oneLine(place === "" ? message : `${place}: ${message}`), options);
    this.reason = oneLine(message);
  }
}

/** An environment did not begin a task that may well be sound, for example because its process died: another try may do. */
export class EnvironmentError extends InputError {}

/**
 * Does a check of what a config file says; its faults name the file, where they name no other.
 *
 * @param part the path before the keys that the check names
 */
export function checkOf<T>(file: string, check: () => T, part = ""): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof InputError) || error.where.file !== undefined) throw error;
    const { key } = error.where;
    throw new InputError(error.reason, {
      ...error.where,
      file,
      ...(key === undefined ? {} : { key: `${part}${key}` }),
    });
  }
}

/** The line of the bad input that a check finds; null where it finds none. Other errors are thrown on. */
export function problemOf(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
}

/**
 * What went wrong on the device that computes: `lost`: it is gone with everything on it; `memory`: an allocation failed;
 * `operation`: it refused an operation; `server`: a server that computes gave no answer, or lost the model.
 */
export type DeviceFault = "lost" | "memory" | "operation" | "server";

/**
 * The device failed, not the input: one line. Results of the work at hand are lost; the same work can be tried again on
 * a device that is reopened.
 */
export class DeviceError extends Error {
  override readonly name = "DeviceError";
  constructor(
    message: string,
    readonly fault: DeviceFault,
  ) {
    super(oneLine(message));
  }
}

/** Characters of a message; ids and keys of a damaged file can be as long as the file. */
const LONGEST = 1000;

/** Messages quote what files hold: line ends become spaces, and no control character reaches a terminal as it is. */
function oneLine(text: string): string {
  const short = text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 300)} ... ${text.slice(-295)}`;
  return plainLine(short.replace(/\s*[\n\r\u2028\u2029]\s*/g, " "));
}
