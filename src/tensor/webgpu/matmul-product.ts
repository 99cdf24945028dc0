import type { GpuTensor } from "./memory.ts";

/** A matrix inside a tensor: its first value, and the values from one row to the next. */
export interface Operand {
  readonly tensor: GpuTensor;
  readonly at?: number;
  readonly row: number;
}

export interface Product {
  readonly a: Operand;
  readonly b: Operand;
  readonly c: Operand;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}
