/** Reads what a command has printed so far, line by line, from where the last reading ended. */
import { closeSync, openSync, readSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { JobEvent } from "../../protocol/job-event.ts";

const NEWLINE = 0x0a;

export interface OutputPart {
  lines: string[];
  /** Byte after the last line that was read. */
  offset: number;
  /** More bytes may be there already. */
  more: boolean;
}

/**
 * Complete lines from byte `offset` of a file on. A last line without its newline is left for the next call unless
 * `final` says that nothing will be added. A file that is not there has no lines.
 *
 * @throws what keeps it from being read: nothing of it is taken then
 */
export function readLines(
  file: string,
  offset: number,
  options: { final: boolean; chunk?: number },
): OutputPart {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    const begun = offset > 0;
    if (!begun && (error as NodeJS.ErrnoException).code === "ENOENT")
      return { lines: [], offset, more: false };
    throw error;
  }
  try {
    // A line longer than the buffer is read again with twice the buffer: no line is ever cut.
    for (let size = options.chunk ?? 1 << 20; ; size *= 2) {
      const buffer = Buffer.alloc(size);
      const length = fill(descriptor, buffer, offset);
      const full = length === size;
      const end = buffer.subarray(0, length).lastIndexOf(NEWLINE) + 1;
      if (end === 0 && full) continue;
      const taken = options.final && !full ? length : end;
      const lines = buffer.toString("utf8", 0, taken).split("\n");
      if (lines.at(-1) === "") lines.pop();
      return { lines, offset: offset + taken, more: full };
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Reads until the buffer is full or the file ends: one read may give less than there is. @returns bytes read */
function fill(descriptor: number, buffer: Buffer, position: number): number {
  for (let length = 0; ; ) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, position + length);
    length += read;
    if (read === 0 || length === buffer.length) return length;
  }
}

/** All events of a run that is over, a part of the file at a time. @throws what keeps it from being read */
export function* allEvents(file: string): Generator<Pick<JobEvent, "type" | "text">> {
  for (let part: OutputPart = { lines: [], offset: 0, more: true }; part.more; ) {
    part = readLines(file, part.offset, { final: true });
    for (const line of part.lines) {
      const event = toEvent(line);
      if (event !== null) yield event;
    }
  }
}

/**
 * A line as an event, with its data and their JSON: a JSON object is progress, anything else is shown as it is. Empty
 * lines say nothing.
 */
export function toEvent(
  line: string,
): { type: "progress" | "output"; data: Record<string, unknown>; text: string } | null {
  const text = line.trim();
  if (text === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { type: "progress", data: value as Record<string, unknown>, text };
    }
  } catch {
    // Not JSON: plain output.
  }
  const data = { text: line };
  return { type: "output", data, text: JSON.stringify(data) };
}

/**
 * What a command said last on its standard error, without terminal colours: its one-line message where there is one
 * (hints may follow it), else the last line that says anything.
 */
export function lastLine(file: string): string | null {
  const { lines } = readLines(file, 0, { final: true, chunk: 1 << 22 });
  const plain = lines.map((line) => stripVTControlCharacters(line).split("\r").at(-1)!.trim());
  const message = plain.findLast((line) => /^(gcopd|error): ./.test(line));
  return message ?? plain.findLast((line) => line !== "") ?? null;
}
