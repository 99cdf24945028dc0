/**
 * A client of py4j's gateway: Java objects over a TCP connection, as lines of text. One command waits for its reply
 * before the next is sent: the Java side delays the replies of commands that come together.
 */
import { createConnection, type Socket } from "node:net";
import { InputError } from "../../core/errors.ts";

/** A Java object that the gateway keeps, until it is forgotten. */
export class JavaReference {
  constructor(readonly id: string) {}
}

/** What a call takes: whole numbers are Java's `int`. */
export type JavaArgument = string | number | boolean | null | JavaReference;
export type JavaValue = string | number | boolean | null | JavaReference;

/** Java refused a call, or threw in it. The connection goes on. */
export class JavaError extends Error {
  override readonly name = "JavaError";
}

/** Separates the strings of a list. No text of the simulator holds it. */
const SEPARATOR = "\u0001";

const escapeText = (text: string): string =>
  text.replace(/\\/g, "\\\\").replace(/\r/g, "\\r").replace(/\n/g, "\\n");

const unescapeText = (text: string): string =>
  text.replace(/\\([\\rn])/g, (_, mark: string) => ({ r: "\r", n: "\n" })[mark] ?? mark);

/** One argument as a line of a command. */
export function encodeArgument(value: JavaArgument): string {
  if (value === null) return "n";
  if (value instanceof JavaReference) return `r${value.id}`;
  if (typeof value === "string") return `s${escapeText(value)}`;
  if (typeof value === "boolean") return `b${value}`;
  return Number.isSafeInteger(value) ? `i${value}` : `d${value}`;
}

/** The value of a reply. @throws InputError for a line that is not one */
export function decodeReply(line: string): JavaValue {
  const [type, value] = [line[2], line.slice(3)];
  if (line.startsWith("!y"))
    switch (type) {
      case "v":
      case "n":
        return null;
      case "s":
        return unescapeText(value);
      case "b":
        return value === "true";
      case "i":
      case "L":
      case "d":
        return Number(value);
      case "r":
      case "l":
      case "t":
      case "a":
      case "h":
      case "g":
        return new JavaReference(value);
    }
  throw new InputError(`expected a reply of py4j, received ${JSON.stringify(line.slice(0, 80))}`);
}

interface Waiting {
  resolve(line: string): void;
  reject(error: Error): void;
}

/** One connection. Commands wait for each other; after a failure every one of them fails in the same way. */
export class Py4jConnection {
  readonly #socket: Socket;
  readonly #limitMs: number;
  #rest = "";
  #waiting: Waiting | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #late: NodeJS.Timeout | undefined;
  #failure: Error | null = null;

  private constructor(socket: Socket, limitMs: number) {
    this.#socket = socket;
    this.#limitMs = limitMs;
    socket.setNoDelay(true).setEncoding("utf8");
    socket.on("data", (text: string) => this.#receive(text));
    socket.on("error", (error) => this.fail(new InputError(`connection lost: ${error.message}`)));
    socket.on("close", () => this.fail(new InputError("connection closed")));
  }

  /**
   * @param port on this machine
   * @param limitMs longest wait for one reply, in milliseconds
   * @throws InputError when nobody listens
   */
  static connect(port: number, limitMs: number): Promise<Py4jConnection> {
    return new Promise((resolve, reject) => {
      const socket = createConnection({ port, host: "127.0.0.1" });
      const refused = (error: Error) => reject(new InputError(`cannot connect: ${error.message}`));
      socket.once("error", refused);
      socket.once("connect", () => {
        socket.removeListener("error", refused);
        resolve(new Py4jConnection(socket, limitMs));
      });
    });
  }

  /** A new object of a class without arguments. */
  async create(className: string): Promise<JavaReference> {
    return reference(await this.#command(["i", className], className));
  }

  /** Calls a method of an object, or a static one of a class given by its name. */
  call(target: JavaReference | string, method: string, ...given: JavaArgument[]): Promise<JavaValue> {
    const object = typeof target === "string" ? `z:${target}` : target.id;
    return this.#command(["c", object, method, ...given.map(encodeArgument)], method);
  }

  /** Takes over a list of strings and forgets it: two commands more, however long it is. */
  async strings(list: JavaValue): Promise<string[]> {
    const kept = reference(list);
    const joined = await this.call("java.lang.String", "join", SEPARATOR, kept);
    await this.#forget(kept);
    return joined === "" || typeof joined !== "string" ? [] : joined.split(SEPARATOR);
  }

  /** Takes over a list of whole numbers and forgets it. */
  async integers(list: JavaValue): Promise<number[]> {
    const kept = reference(list);
    const written = String(await this.call(kept, "toString"));
    await this.#forget(kept);
    return [...written.matchAll(/-?\d+/g)].map(([digits]) => Number(digits));
  }

  /** Ends the connection; commands under way fail with this error. */
  fail(error: Error): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#socket.destroy();
    this.#answered()?.reject(error);
  }

  async #forget({ id }: JavaReference): Promise<void> {
    await this.#command(["m", "d", id], "forget");
  }

  /** @param name of what is called, for messages */
  async #command(lines: readonly string[], name: string): Promise<JavaValue> {
    const line = await this.#send(`${lines.join("\n")}\ne\n`);
    if (!line.startsWith("!x")) return decodeReply(line);
    // A Throwable says by itself what it is; a message of the gateway comes with the stack behind it.
    const thrown = line.startsWith("!xr")
      ? String(decodeReply(await this.#send(`c\n${line.slice(3)}\ntoString\ne\n`)))
      : unescapeText(line.slice(3));
    throw new JavaError(`${name}: ${thrown.split("\n")[0]}`);
  }

  #send(text: string): Promise<string> {
    const sent = this.#last.then(
      () =>
        new Promise<string>((resolve, reject) => {
          if (this.#failure !== null) return reject(this.#failure);
          this.#waiting = { resolve, reject };
          this.#late = setTimeout(
            () => this.fail(new InputError(`no reply within ${this.#limitMs / 1000} s`)),
            this.#limitMs,
          );
          this.#socket.write(text);
        }),
    );
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  /** Takes the pending command, if any. */
  #answered(): Waiting | null {
    clearTimeout(this.#late);
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      // Sent unsolicited when the gateway closes.
      if (line.startsWith("!z")) continue;
      const waiting = this.#answered();
      if (waiting === null) this.fail(new InputError("a reply that nobody asked for"));
      else waiting.resolve(line);
    }
  }
}

function reference(value: JavaValue): JavaReference {
  if (value instanceof JavaReference) return value;
  throw new InputError(`expected a Java object, received ${JSON.stringify(value)}`);
}
