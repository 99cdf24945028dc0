import { InputError } from "../core/errors.ts";

/**
 * Largest sizes that are taken for those of a model: several times those of the largest published ones (named behind
 * each), and small enough that what is counted from them stays countable.
 */
export const MOST = {
  /** 126, Llama 3.1 405B */
  layers: 1024,
  /** 18,432, PaLM */
  width: 2 ** 18,
  /** 73,728, PaLM */
  inner: 2 ** 20,
  /** 256,000, Gemma */
  vocabulary: 2 ** 22,
  /** 128, Llama 3.1 405B */
  heads: 4096,
  /** 256, Qwen3.5 */
  headSize: 8192,
  /** 10 million, Llama 4 Scout */
  positions: 2 ** 27,
  /** 4, Qwen3.5 */
  kernel: 64,
} as const;

/** The keys of one object of a config.json, each read with its check. Every fault is an InputError that names the key. */
export class ConfigFields {
  constructor(
    readonly json: Readonly<Record<string, unknown>>,
    private readonly file: string,
    /** Where the object stands in the file: "" or such as `text_config.`. */
    private readonly prefix = "",
  ) {}

  fail(key: string, message: string): never {
    throw new InputError(message, { file: this.file, key: this.prefix + key });
  }

  has(key: string): boolean {
    return this.json[key] !== undefined && this.json[key] !== null;
  }

  shown(key: string): string {
    return JSON.stringify(this.json[key]) ?? "missing";
  }

  /** `most`: see `MOST`. */
  whole(key: string, most: number): number {
    const value = this.json[key];
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value <= 0)
      return this.fail(key, `expected a positive whole number, got ${this.shown(key)}`);
    if (value > most) this.fail(key, `expected at most ${most}, got ${value}`);
    return value;
  }

  positive(key: string, value: unknown = this.json[key]): number {
    if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
      this.fail(key, `expected a positive number, got ${JSON.stringify(value) ?? "nothing"}`);
    return value as number;
  }

  boolean(key: string): boolean {
    const value = this.json[key];
    if (typeof value !== "boolean") this.fail(key, `expected true or false, got ${this.shown(key)}`);
    return value as boolean;
  }

  /** An object of its own under `key`. */
  object(key: string): ConfigFields {
    const value = this.json[key];
    if (typeof value !== "object" || value === null || Array.isArray(value))
      this.fail(key, `expected an object, got ${this.shown(key)}`);
    return new ConfigFields(value as Record<string, unknown>, this.file, `${this.prefix}${key}.`);
  }

  /** The same object with other values. */
  with(values: Readonly<Record<string, unknown>>): ConfigFields {
    return new ConfigFields({ ...this.json, ...values }, this.file, this.prefix);
  }

  /** Options that change what the model computes and are implemented for these values only: refused, never ignored. */
  refuseOthers(allowed: Readonly<Record<string, readonly unknown[]>>): void {
    for (const [key, values] of Object.entries(allowed)) {
      const value = this.json[key];
      if (value !== undefined && !values.includes(value))
        this.fail(key, `${JSON.stringify(value)} is not supported (expected ${JSON.stringify(values[0])})`);
    }
  }

  /** `layer_types`, where it is given: one of `known` a layer. */
  layerTypes<K extends string>(layers: number, known: readonly K[]): K[] | null {
    if (!this.has("layer_types")) return null;
    const types = this.json["layer_types"];
    if (!Array.isArray(types) || types.length !== layers)
      this.fail("layer_types", "expected one entry a layer");
    return (types as unknown[]).map((type) => {
      const found = known.find((name) => name === type);
      const expected = known.map((name) => JSON.stringify(name)).join(" or ");
      return (
        found ?? this.fail("layer_types", `${JSON.stringify(type)} is not supported (expected ${expected})`)
      );
    });
  }

  architecture(expected: string): void {
    if (!this.has("architectures")) return;
    const names = this.json["architectures"];
    if (!Array.isArray(names) || !names.includes(expected))
      this.fail("architectures", `expected ${expected}, got ${this.shown("architectures")}`);
  }

  /**
   * Base of the rotary angles and the part of each head that turns, from the older or the newer keys. `defaultPartial` is
   * taken where the file says nothing; null: the architecture turns whole heads, and anything else is refused.
   */
  rope(defaultPartial: number | null): { theta: number; partial: number } {
    let theta = this.json["rope_theta"];
    let key = "rope_theta";
    let partial: unknown = defaultPartial !== null ? this.json["partial_rotary_factor"] : undefined;
    for (const name of ["rope_parameters", "rope_scaling"]) {
      if (!this.has(name)) continue;
      const value = this.json[name];
      if (typeof value !== "object" || Array.isArray(value)) this.fail(name, "expected an object or null");
      const options = value as Record<string, unknown>;
      const type = options["rope_type"] ?? options["type"];
      if (type !== "default")
        this.fail(
          name,
          `rope type ${JSON.stringify(type) ?? "missing"} is not supported (expected "default")`,
        );
      const own = options["partial_rotary_factor"] ?? undefined;
      if (defaultPartial === null && own !== undefined && own !== 1)
        this.fail(name, `partial_rotary_factor ${JSON.stringify(own)} is not supported (expected 1)`);
      const agree = (what: string, before: unknown, after: unknown) => {
        if (before !== undefined && before !== null && before !== after)
          this.fail(name, `${what} ${JSON.stringify(after)} contradicts ${JSON.stringify(before)}`);
      };
      if (own !== undefined) {
        agree("partial_rotary_factor", partial, own);
        partial = own;
      }
      if (options["rope_theta"] !== undefined) {
        agree("rope_theta", theta, options["rope_theta"]);
        theta = options["rope_theta"];
        key = `${name}.rope_theta`;
      }
    }
    const factor =
      partial === undefined || partial === null
        ? (defaultPartial ?? 1)
        : this.positive("partial_rotary_factor", partial);
    if (factor > 1) this.fail("partial_rotary_factor", `expected at most 1, got ${factor}`);
    return { theta: this.positive(key, theta), partial: factor };
  }
}
