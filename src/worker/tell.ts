/** The worker's log: lines on standard error. */
import { plainText } from "../core/plain-text.ts";

/** Writes a message to the log. Never throws: where the log is a file, its disk may be the one that is full. */
export function tell(message: string): void {
  try {
    process.stderr.write(`gcopd worker: ${plainText(message)}\n`);
  } catch {
    // There is nowhere left to say it.
  }
}
