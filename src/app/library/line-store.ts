/**
 * Lines of text outside the JavaScript heap: what was read once and checked is kept as blobs, which a browser may keep
 * on disk, and read back by place. A plain file on the user's disk is not copied at all.
 */
export interface LineRef {
  blob: Blob;
  start: number;
  end: number;
}

/** Lines are gathered to blobs of about this many characters. */
const GROUP = 4 << 20;

export class LineStore {
  #pending: string[] = [];
  #size = 0;
  #bytes = 0;
  #open: LineRef[] = [];

  /** Keeps one line; its place is valid after `seal`. `bytes` is its length in UTF-8. */
  append(text: string, bytes: number): LineRef {
    const ref: LineRef = { blob: EMPTY, start: this.#bytes, end: this.#bytes + bytes };
    this.#pending.push(text);
    this.#open.push(ref);
    this.#size += text.length;
    this.#bytes += bytes;
    if (this.#size >= GROUP) this.seal();
    return ref;
  }

  /** Moves what is pending into a blob. */
  seal(): void {
    const blob = new Blob(this.#pending);
    for (const ref of this.#open) ref.blob = blob;
    this.#pending = [];
    this.#open = [];
    this.#size = 0;
    this.#bytes = 0;
  }
}

const EMPTY = new Blob();

/** The text of one line. */
export function readLine(ref: LineRef): Promise<string> {
  return ref.blob.slice(ref.start, ref.end).text();
}
