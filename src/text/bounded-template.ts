/**
 * Chat templates under a budget. A template is a program that came with a model: `{% for i in range(1000000000) %}` would
 * take all memory and end the process, and a loop inside a loop would never end. Here each step of the interpreter is
 * counted with the size of what it handles, and what a template may make is bounded. Published templates take thousands
 * of steps for a chat of dozens of messages.
 */
import { Environment, Interpreter, parse, tokenize } from "@huggingface/jinja";

type Statement = NonNullable<Parameters<Interpreter["evaluate"]>[0]>;
type Value = ReturnType<Interpreter["evaluate"]>;

/** Characters of the longest template; published ones have up to 30,000. */
const LONGEST_TEMPLATE = 2 ** 18;
/** Steps of one rendering. */
const MOST_STEPS = 250_000;
/** Characters of the longest text, and values of the largest list with what is in it: four million tokens. */
const MOST_SIZE = 2 ** 24;
/** Characters and elements that all steps handle together, each as often as it is handled. */
const MOST_HANDLED = 2 ** 27;
/** Elements of a `range`. */
const MOST_RANGE = 10_000;
/** Characters that a `replace`, `join` or `indent` puts in at each place. They are written out in the template. */
const MOST_INSERTED = 64;
/** How deep expressions and blocks of a template, and its values, lie inside each other. */
const DEEPEST = 400;

/** Throws an `Error` of one line for what is not a template, or one that asks for more than templates do. */
export function compileTemplate(text: string): (variables: Readonly<Record<string, unknown>>) => string {
  if (text.length > LONGEST_TEMPLATE) throw new Error(`longer than ${LONGEST_TEMPLATE} characters`);
  const program = parse(tokenize(text, { lstrip_blocks: true, trim_blocks: true }));
  checkInsertions(program, 0);
  return (variables) => {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    return String(new BoundedInterpreter(environment, text.length).run(program).value);
  };
}

/** What every template may use, as the interpreter's own `Template` has it. */
const GLOBALS: Readonly<Record<string, unknown>> = {
  false: false,
  true: true,
  none: null,
  False: false,
  True: true,
  None: null,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
  range: boundedRange,
  strftime_now: (format: string) => strftime(new Date(), format),
};

function boundedRange(first: number, end?: number, step = 1): number[] {
  const [start, stop] = end === undefined ? [0, first] : [first, end];
  if (step === 0) throw new Error("range() step must not be zero");
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= MOST_RANGE)) throw new Error(`range() of more than ${MOST_RANGE} elements`);
  return Array.from({ length }, (_, n) => start + n * step);
}

function strftime(date: Date, format: string): string {
  const month = (style: "long" | "short") =>
    new Intl.DateTimeFormat(undefined, { month: style }).format(date);
  const two = (value: number) => String(value).padStart(2, "0");
  return format.replace(/%[YmdbBHM%]/g, (token) => {
    switch (token) {
      case "%Y":
        return String(date.getFullYear());
      case "%m":
        return two(date.getMonth() + 1);
      case "%d":
        return two(date.getDate());
      case "%b":
        return month("short");
      case "%B":
        return month("long");
      case "%H":
        return two(date.getHours());
      case "%M":
        return two(date.getMinutes());
      default:
        return "%";
    }
  });
}

/**
 * What one step may put in at many places at once must be short and written out in the template: the step itself cannot
 * be stopped halfway.
 */
function checkInsertions(node: unknown, depth: number): void {
  if (depth > DEEPEST * 4) throw new Error(`nests deeper than ${DEEPEST}`);
  if (typeof node !== "object" || node === null) return;
  if (node instanceof Map) {
    for (const [key, value] of node) for (const each of [key, value]) checkInsertions(each, depth + 1);
    return;
  }
  const { type, callee, args, property } = node as Called;
  if (type === "MemberExpression" && property?.value === "replace")
    throw new Error("replace is called where it is named");
  if (type === "CallExpression" && Array.isArray(args)) {
    const name = callee?.type === "MemberExpression" ? callee.property?.value : callee?.value;
    if (name === "replace") for (const arg of args.slice(1)) checkInserted(arg, name);
    if (name === "join" || name === "indent" || name === "tojson")
      for (const arg of args) checkInserted(arg, name);
    checkInsertions(args, depth + 1);
    checkInsertions(callee?.type === "MemberExpression" ? callee.object : callee, depth + 1);
    return;
  }
  for (const child of Object.values(node)) checkInsertions(child, depth + 1);
}

/** What is looked at of a call, and of what it calls. */
interface Called {
  type?: unknown;
  value?: unknown;
  object?: unknown;
  property?: { value?: unknown };
  callee?: Called;
  args?: unknown;
}

/** Every literal in an argument; a variable is refused, whatever it would be. */
function checkInserted(argument: unknown, name: string): void {
  const { type, value } = argument as { type?: unknown; value?: unknown };
  if (type === "KeywordArgumentExpression") {
    checkInserted(value, name);
    return;
  }
  if (type === "TupleLiteral" || type === "ArrayLiteral") {
    for (const each of Array.isArray(value) ? value : []) checkInserted(each, name);
    return;
  }
  const isSmall =
    (type === "StringLiteral" && typeof value === "string" && value.length <= MOST_INSERTED) ||
    (type === "IntegerLiteral" && typeof value === "number" && value <= MOST_INSERTED) ||
    (type === "Identifier" && typeof value === "string" && /^(true|false|none)$/i.test(value));
  if (!isSmall)
    throw new Error(`${name} takes values that are written out, of at most ${MOST_INSERTED} characters`);
}

/** Elements of a list, members of a mapping, characters of a text. */
function lengthOf(content: unknown): number {
  if (typeof content === "string" || Array.isArray(content)) return content.length;
  return content instanceof Map ? content.size : 1;
}

/** An operation that goes through its operand several times, or writes its literals at each place of it. */
interface Demand {
  name: "sort" | "tojson" | "slice";
  operand: object;
  /** What it is called with: widths of indents, and separators. */
  literals: readonly (string | number)[];
}

function demandOf(statement: Statement | undefined): Demand | null {
  if (statement?.type === "MemberExpression" && "object" in statement && "property" in statement) {
    const isSlice = (statement.property as Called).type === "SliceExpression";
    return isSlice ? { name: "slice", operand: statement.object as object, literals: [] } : null;
  }
  if (statement?.type !== "FilterExpression" || !("filter" in statement && "operand" in statement))
    return null;
  const { value, callee, args } = statement.filter as Called;
  const name = callee?.value ?? value;
  if (name !== "sort" && name !== "tojson") return null;
  return { name, operand: statement.operand as object, literals: literalsOf(args) };
}

/** The texts and numbers that arguments write out. */
function literalsOf(argument: unknown): (string | number)[] {
  if (Array.isArray(argument)) return argument.flatMap(literalsOf);
  const { type, value } = (argument ?? {}) as Called;
  if (type === "KeywordArgumentExpression" || Array.isArray(value)) return literalsOf(value);
  return typeof value === "string" || typeof value === "number" ? [value] : [];
}

class BoundedInterpreter extends Interpreter {
  #steps = 0;
  #handled = 0;
  #depth = 0;
  /** Sizes of lists and mappings, which never change once they are made. */
  readonly #sizes = new WeakMap<object, number>();
  readonly #depths = new WeakMap<object, number>();
  readonly #iterables = new WeakSet<object>();
  /** What is done with what they give, where that takes more than reading it once. */
  readonly #demands = new WeakMap<object, Demand>();

  constructor(
    environment: Environment,
    private readonly templateLength: number,
  ) {
    super(environment);
  }

  override evaluate(statement: Statement | undefined, environment: Environment): Value {
    this.#step(1);
    // The body is searched for the names that it uses.
    if (statement?.type === "Macro" || statement?.type === "CallStatement") this.#handle(this.templateLength);
    if (statement?.type === "For" && "iterable" in statement) this.#iterates(statement.iterable);
    const demand = demandOf(statement);
    if (demand !== null) this.#demands.set(demand.operand, demand);
    if (++this.#depth > DEEPEST) throw new Error(`nests deeper than ${DEEPEST}`);
    let value: Value;
    try {
      value = super.evaluate(statement, environment);
    } finally {
      this.#depth--;
    }
    const isNamed = statement?.type === "MemberExpression" && "computed" in statement && !statement.computed;
    if (statement?.type === "MemberExpression" && !isNamed && value?.type === "FunctionValue")
      throw new Error("a function is called by its own name alone");
    const size = this.#sizeOf(value, 0);
    if (size > MOST_SIZE)
      throw new Error(`makes a text or list of more than ${MOST_SIZE} characters or values`);
    // Comparing a list with a text writes it out.
    this.#handle(typeof value?.value === "string" ? size : size / 4);
    const demanded = statement && this.#demands.get(statement);
    if (demanded) this.#handle(this.#cost(demanded, value, size));
    if (statement !== undefined && this.#iterables.has(statement)) this.#step(lengthOf(value?.value));
    return value;
  }

  /** What a loop runs over: each of its elements is a step, whatever is done with it. */
  #iterates(iterable: unknown): void {
    if (typeof iterable !== "object" || iterable === null) return;
    this.#iterables.add(iterable);
    if ("lhs" in iterable) this.#iterates(iterable.lhs);
  }

  #step(count: number): void {
    this.#steps += count;
    if (this.#steps > MOST_STEPS) throw new Error(`takes more than ${MOST_STEPS} steps`);
  }

  #handle(amount: number): void {
    this.#handled += amount;
    if (this.#handled > MOST_HANDLED) throw new Error(`handles more than ${MOST_HANDLED} characters`);
  }

  /** Characters and values that it handles or writes, at the most. */
  #cost({ name, literals }: Demand, value: Value, size: number): number {
    const length = lengthOf(value?.value);
    if (name === "slice") return 4 * length;
    // A comparison costs several times what reading a value does.
    if (name === "sort") return 4 * size * Math.ceil(Math.log2(1 + length));
    const depth = this.#depthOf(value);
    return literals.reduce<number>(
      (sum, each) => sum + size * (typeof each === "string" ? each.length : each * depth),
      0,
    );
  }

  #depthOf(value: Value): number {
    const content: unknown = value?.value;
    const inner = Array.isArray(content) ? content : content instanceof Map ? [...content.values()] : null;
    if (inner === null) return 0;
    const known = this.#depths.get(value);
    if (known !== undefined) return known;
    const depth = 1 + inner.reduce<number>((deepest, each) => Math.max(deepest, this.#depthOf(each)), 0);
    this.#depths.set(value, depth);
    return depth;
  }

  /** Characters and values, each as often as it is held: so many are written out where a list becomes text. */
  #sizeOf(value: Value, depth: number): number {
    // A filter such as `first` may give nothing.
    const content: unknown = value?.value;
    if (typeof content === "string") return content.length + 1;
    const inner = Array.isArray(content) ? content : content instanceof Map ? [...content.values()] : null;
    if (inner === null) return 1;
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    if (depth > DEEPEST) throw new Error(`nests deeper than ${DEEPEST}`);
    let size = 1;
    for (const each of inner) {
      if (each?.type === "NamespaceValue") throw new Error("a namespace inside of another value");
      this.#handle(1);
      size += this.#sizeOf(each, depth + 1);
      if (size > MOST_SIZE) break;
    }
    if (value.type !== "NamespaceValue") this.#sizes.set(value, size);
    return size;
  }
}
