import { InputError } from "../../core/errors.ts";
import type { OnUnreadable, UnreadableRecord } from "../../core/record/unreadable.ts";

/** What `read` gives; null where it throws an `InputError` of one line and somebody takes that. */
export function unreadable<T>(
  kind: UnreadableRecord["kind"],
  onUnreadable: OnUnreadable | undefined,
  read: () => T,
): T | null {
  try {
    return read();
  } catch (error) {
    if (onUnreadable === undefined || !(error instanceof InputError)) throw error;
    const { file, line, key } = error.where;
    if (file === undefined || line === undefined) throw error;
    onUnreadable({ kind, file, line, reason: key === undefined ? error.reason : `${key}: ${error.reason}` });
    return null;
  }
}
