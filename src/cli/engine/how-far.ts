import { passingProgress } from "../io.ts";
import { atMostEvery } from "./json-lines.ts";

/**
 * Tells a person how far work is, at a calm rate: on a terminal in one line that changes every second, elsewhere in a line
 * every ten.
 */
export const howFar = <T>(describe: (value: T) => string): ((value: T) => void) =>
  atMostEvery(process.stderr.isTTY ? 1_000 : 10_000, (value) => passingProgress(`  ${describe(value)}`));
