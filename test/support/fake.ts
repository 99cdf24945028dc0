import { vi } from "vitest";

/** Some of a client's parts; of what another thread does only how it is called. */
export type Parts<T> = {
  [K in keyof T]?: T[K] extends (...given: infer Given) => infer Result ? (...given: Given) => Result : T[K];
};

/** A client with only the parts that a test gives it: whatever else is asked of it is a fault of the test. */
export function fake<T extends object>(parts: Parts<T>): T {
  return new Proxy(parts as T, {
    get(target, key) {
      const part: unknown = Reflect.get(target, key);
      // An `await` asks whether it is a promise.
      if (part === undefined && key !== "then") throw new Error(`the fake has no ${String(key)}`);
      return part;
    },
  });
}

/** Work that ends when the test says so. */
export class Pending<T = void> {
  resolve!: (value: T) => void;
  reject!: (error: unknown) => void;
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/** Waits until a check holds, however slow the machine is. */
export const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000 });
