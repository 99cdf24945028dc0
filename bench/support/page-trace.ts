/** Chromium's own trace of a page, reduced to the long tasks of its main thread. */
import type { Browser, Page } from "playwright";

export interface LongTask {
  /** Milliseconds by the clock, and of the processor: on a busy machine the first is longer. */
  wall: number;
  own: number;
  /** The last thing that was done before it began. */
  during: string;
}

interface TraceEvent {
  name: string;
  cat: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  ts: number;
  dur?: number;
  tdur?: number;
}

function isTraceEvent(event: object): event is TraceEvent {
  return "name" in event && "ts" in event && typeof event.ts === "number";
}

/** From here on a task counts as long, in milliseconds. */
const LONG = 50;

/** Marks of what is being done have names that begin so. */
const MARK = "bench:";

export class PageTrace {
  readonly #page: Page;
  readonly #events: TraceEvent[] = [];
  readonly #send: (method: "Tracing.end") => Promise<unknown>;
  readonly #complete: Promise<void>;

  private constructor(
    page: Page,
    send: (method: "Tracing.end") => Promise<unknown>,
    complete: Promise<void>,
    events: TraceEvent[],
  ) {
    this.#page = page;
    this.#send = send;
    this.#complete = complete;
    this.#events = events;
  }

  /** Starts a trace of the whole browser; one at a time. */
  static async start(browser: Browser, page: Page): Promise<PageTrace> {
    const session = await browser.newBrowserCDPSession();
    const events: TraceEvent[] = [];
    session.on("Tracing.dataCollected", ({ value }) => {
      for (const event of value) {
        // The protocol's types call every value of an event a text, which its numbers are not.
        if (!isTraceEvent(event)) continue;
        const task = event.name === "RunTask" && (event.dur ?? 0) >= 1000 * LONG;
        if (task || event.name.startsWith(MARK)) events.push(event);
      }
    });
    const complete = new Promise<void>((resolve) => session.once("Tracing.tracingComplete", () => resolve()));
    await session.send("Tracing.start", {
      transferMode: "ReportEvents",
      traceConfig: {
        recordMode: "recordUntilFull",
        traceBufferSizeInKb: 400_000,
        // The second has the marks.
        includedCategories: ["disabled-by-default-devtools.timeline", "blink.user_timing"],
        excludedCategories: ["*"],
      },
    });
    const trace = new PageTrace(page, (method) => session.send(method), complete, events);
    await trace.mark("start");
    return trace;
  }

  /** Names what is done next. */
  async mark(what: string): Promise<void> {
    await this.#page.evaluate((name) => performance.mark(name), MARK + what);
  }

  /** Ends the trace: the long tasks of the thread that made the marks, in order. */
  async end(): Promise<LongTask[]> {
    await this.mark("end");
    await this.#send("Tracing.end");
    await this.#complete;
    const marks = this.#events.filter(({ name }) => name.startsWith(MARK)).sort((a, b) => a.ts - b.ts);
    const [first, last] = [marks[0], marks.at(-1)];
    if (first === undefined || last === undefined || !last.name.endsWith("end")) {
      throw new Error(
        "the trace lacks its marks: it did not fit the browser's buffer, or tracing is not allowed",
      );
    }
    return this.#events
      .filter(
        ({ name, pid, tid, ts }) =>
          name === "RunTask" && pid === first.pid && tid === first.tid && ts >= first.ts && ts <= last.ts,
      )
      .sort((a, b) => a.ts - b.ts)
      .map(({ ts, dur = 0, tdur = 0 }) => ({
        wall: dur / 1000,
        own: tdur / 1000,
        during: marks.findLast((mark) => mark.ts <= ts)!.name.slice(MARK.length),
      }));
  }
}
