/**
 * Reads what Python's `repr` writes for a list of strings or a dict of strings: WebShop puts both into its addresses.
 * Only these two are read, whole; anything else is a `SyntaxError`.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Digits that follow each numeric escape. */
const NUMERIC: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  fail(expected: string): never {
    const found = this.#text[this.#at];
    throw new SyntaxError(
      `expected ${expected} at character ${this.#at + 1}` +
        (found === undefined ? ", but the text ends" : `, found ${JSON.stringify(found)}`),
    );
  }

  #skip(): void {
    while (/[ \t\n\r\f]/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  /** Takes a punctuation mark if it stands next, white space around it left out. */
  take(mark: string): boolean {
    this.#skip();
    if (this.#text[this.#at] !== mark) return false;
    this.#at++;
    this.#skip();
    return true;
  }

  end(): void {
    this.#skip();
    if (this.#at < this.#text.length) this.fail("the end");
  }

  string(): string {
    const quote = this.#text[this.#at];
    if (quote !== "'" && quote !== '"') this.fail("a quoted string");
    this.#at++;
    let value = "";
    for (;;) {
      const unit = this.#text[this.#at];
      if (unit === undefined || unit === "\n") this.fail("a closing quote");
      this.#at++;
      if (unit === quote) return value;
      value += unit === "\\" ? this.#escape() : unit;
    }
  }

  #escape(): string {
    const letter = this.#text[this.#at] ?? this.fail("an escape");
    const simple = ESCAPES[letter];
    if (simple !== undefined) {
      this.#at++;
      return simple;
    }
    const length = NUMERIC[letter];
    if (length === undefined) this.fail("an escape that repr writes");
    const digits = this.#text.slice(this.#at + 1, this.#at + 1 + length);
    const code = new RegExp(`^[0-9a-fA-F]{${length}}$`).test(digits) ? Number.parseInt(digits, 16) : Infinity;
    if (code > 0x10ffff) this.fail(`an escape with ${length} hexadecimal digits of a character`);
    this.#at += 1 + length;
    return String.fromCodePoint(code);
  }
}

/** Items up to the closing mark; a comma may follow the last. */
function items(reader: Reader, close: string, item: () => void): void {
  if (reader.take(close)) return;
  for (;;) {
    item();
    const more = reader.take(",");
    if (reader.take(close)) return;
    if (!more) reader.fail(`"," or "${close}"`);
  }
}

/** `['red', "men's"]`. Throws `SyntaxError` for any other text. */
export function pythonStringList(text: string): string[] {
  const reader = new Reader(text);
  if (!reader.take("[")) reader.fail('"["');
  const list: string[] = [];
  items(reader, "]", () => list.push(reader.string()));
  reader.end();
  return list;
}

/** `{'size': '8'}`; the last of equal keys counts. Throws `SyntaxError` for any other text. */
export function pythonStringDict(text: string): Record<string, string> {
  const reader = new Reader(text);
  if (!reader.take("{")) reader.fail('"{"');
  const entries: [string, string][] = [];
  items(reader, "}", () => {
    const name = reader.string();
    if (!reader.take(":")) reader.fail('":"');
    entries.push([name, reader.string()]);
  });
  reader.end();
  return Object.fromEntries(entries);
}
