import type { Backend } from "./backend.ts";
import { checkAttendNext } from "./shapes.ts";
import type { HeadNorms, LayerCache, StepRows, Tensor } from "./tensor.ts";

/** What `attendInSteps` is made of. */
export type AttendSteps<T extends Tensor> = Pick<
  Backend<T>,
  "splitColumns" | "reshape" | "rmsNormRope" | "putRows" | "attention" | "free"
>;

/** `Backend.attendNext` by other operations: what it means, and how it is done where no kernel does it in one. */
export function attendInSteps<T extends Tensor>(
  backend: AttendSteps<T>,
  cache: LayerCache<T>,
  qkv: T,
  norms: HeadNorms<T>,
  tables: { cos: T; sin: T },
  step: StepRows<T>,
): T {
  const { queries, heads, groups, size } = checkAttendNext(cache, qkv, norms, tables, step);
  const widths = [heads, groups, groups].map((count) => count * size);
  const [rawQ, rawK, v] = backend.splitColumns(qkv, widths) as [T, T, T];
  const normed = (raw: T, w: T, count: number) => {
    backend.reshape(raw, [queries, count, size]);
    const { cos, sin } = tables;
    const { y, rstd } = backend.rmsNormRope(raw, w, norms.epsilon, cos, sin, step.positions, norms.offset);
    backend.free(raw, rstd);
    return y;
  };
  const q = normed(rawQ, norms.query, heads);
  const k = normed(rawK, norms.key, groups);
  backend.putRows(cache.k, step.rows, k);
  backend.putRows(cache.v, step.rows, backend.reshape(v, k.shape));
  const range = { start: step.starts, end: step.ends, most: step.most };
  const { o, lse } = backend.attention(q, cache.k, cache.v, range);
  backend.free(q, k, v, lse);
  return backend.reshape(o, [queries, heads * size]);
}
