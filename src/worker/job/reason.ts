import { passingFault } from "../../node/file-error.ts";

/** What an error says, in one line. */
export function reasonOf(error: unknown): string {
  return passingFault(error) ?? (error instanceof Error ? error.message : String(error));
}
