/** Events as JSON lines on standard output. */
import { printLine } from "../io.ts";

/** Prints one line. */
export function printJsonLine(value: object): void {
  printLine(JSON.stringify(value));
}

/** Lets a call through at most once every `milliseconds`; the others are dropped. */
export function atMostEvery<T>(milliseconds: number, call: (value: T) => void): (value: T) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (value) => {
    const now = performance.now();
    if (now - last < milliseconds) return;
    last = now;
    call(value);
  };
}
