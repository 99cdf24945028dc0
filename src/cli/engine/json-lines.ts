/** Events as JSON lines on standard output. */

let listening = false;

/** Prints one line. A reader that goes away (`| head`) ends the lines, not the work. */
export function printJsonLine(value: object): void {
  if (!listening) {
    listening = true;
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  process.stdout.write(`${JSON.stringify(value)}\n`);
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
