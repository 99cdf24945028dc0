import type { KeyRange, Tensor } from "./backend.ts";

/**
 * The sizes of every operation, checked in one place so that all backends refuse the same calls with the same words.
 * A wrong shape is a mistake of the caller, never of a user's file: it throws a plain `Error`.
 */

export function elements(shape: readonly number[]): number {
  let count = 1;
  for (const size of shape) count *= size;
  return count;
}

function show(t: Tensor): string {
  return `${t.dtype}[${t.shape.join(",")}]`;
}

function fail(operation: string, expected: string, tensors: Tensor[]): never {
  throw new Error(`${operation}: expected ${expected}, got ${tensors.map(show).join(", ")}`);
}

function isMatrix(t: Tensor): boolean {
  return t.shape.length === 2 && t.dtype === "f32";
}

function isVector(t: Tensor, dtype: "f32" | "u32", size: number): boolean {
  return t.shape.length === 1 && t.dtype === dtype && t.shape[0] === size;
}

export function sameShape(a: Tensor, b: Tensor): boolean {
  return a.shape.length === b.shape.length && a.shape.every((size, i) => size === b.shape[i]);
}

export function checkSame(operation: string, ...tensors: Tensor[]): number {
  const first = tensors[0]!;
  if (tensors.some((t) => t.dtype !== "f32" || !sameShape(first, t)))
    fail(operation, "f32 tensors of one shape", tensors);
  return elements(first.shape);
}

/** x [M,K], w [N,K] */
export function checkLinear(operation: string, x: Tensor, w: Tensor): { m: number; n: number; k: number } {
  if (!isMatrix(x) || !isMatrix(w) || x.shape[1] !== w.shape[1]) fail(operation, "x [M,K], w [N,K]", [x, w]);
  return { m: x.shape[0]!, n: w.shape[0]!, k: w.shape[1]! };
}

/** dy [M,N], w [N,K] */
export function checkLinearBackwardInput(dy: Tensor, w: Tensor): { m: number; n: number; k: number } {
  if (!isMatrix(dy) || !isMatrix(w) || dy.shape[1] !== w.shape[0])
    fail("linearBackwardInput", "dy [M,N], w [N,K]", [dy, w]);
  return { m: dy.shape[0]!, n: w.shape[0]!, k: w.shape[1]! };
}

/** dw [N,K], dy [M,N], x [M,K] */
export function checkLinearBackwardWeight(
  dw: Tensor,
  dy: Tensor,
  x: Tensor,
): { m: number; n: number; k: number } {
  const ok =
    isMatrix(dw) &&
    isMatrix(dy) &&
    isMatrix(x) &&
    dy.shape[0] === x.shape[0] &&
    dw.shape[0] === dy.shape[1] &&
    dw.shape[1] === x.shape[1];
  if (!ok) fail("linearBackwardWeight", "dw [N,K], dy [M,N], x [M,K]", [dw, dy, x]);
  return { m: x.shape[0]!, n: dw.shape[0]!, k: dw.shape[1]! };
}

/** table [V,d], ids u32 [T] */
export function checkEmbedding(table: Tensor, ids: Tensor): { count: number; width: number } {
  if (!isMatrix(table) || ids.dtype !== "u32" || ids.shape.length !== 1)
    fail("embedding", "table [V,d], ids u32 [T]", [table, ids]);
  return { count: ids.shape[0]!, width: table.shape[1]! };
}

/** dtable [V,d], dy [ids,d] */
export function checkEmbeddingBackward(dtable: Tensor, ids: Uint32Array, dy: Tensor): { width: number } {
  if (!isMatrix(dtable) || !isMatrix(dy) || dy.shape[0] !== ids.length || dy.shape[1] !== dtable.shape[1])
    fail(`embeddingBackward of ${ids.length} ids`, "dtable [V,d], dy [T,d]", [dtable, dy]);
  for (const id of ids)
    if (id >= dtable.shape[0]!) throw new Error(`embeddingBackward: id ${id} of ${dtable.shape[0]} rows`);
  return { width: dtable.shape[1]! };
}

/** x [T,d], rows u32 [R] */
export function checkRows(operation: string, x: Tensor, rows: Tensor): { count: number; width: number } {
  if (!isMatrix(x) || rows.dtype !== "u32" || rows.shape.length !== 1)
    fail(operation, "x [T,d], rows u32 [R]", [x, rows]);
  return { count: rows.shape[0]!, width: x.shape[1]! };
}

/** dy [R,d], rows u32 [R] */
export function checkScatterRows(dy: Tensor, rows: Tensor): { count: number; width: number } {
  if (!isMatrix(dy) || !isVector(rows, "u32", dy.shape[0]!))
    fail("scatterRows", "dy [R,d], rows u32 [R]", [dy, rows]);
  return { count: rows.shape[0]!, width: dy.shape[1]! };
}

/** dst [N, …], src [n, …], at + n ≤ N. Returns the values of one row. */
export function checkCopyRows(dst: Tensor, at: number, src: Tensor): { rowSize: number } {
  const rowSize = elements(dst.shape.slice(1));
  const ok =
    dst.shape.length >= 1 &&
    dst.shape.length === src.shape.length &&
    dst.dtype === src.dtype &&
    dst.shape.every((size, i) => i === 0 || size === src.shape[i]) &&
    at >= 0 &&
    at + src.shape[0]! <= dst.shape[0]!;
  if (!ok) fail(`copyRows at ${at}`, "dst [N, …], src [n, …] with at + n ≤ N", [dst, src]);
  return { rowSize };
}

/** x [..., n], w [n] */
export function checkRmsNorm(operation: string, x: Tensor, w: Tensor): { rows: number; width: number } {
  const width = w.shape[0] ?? 0;
  if (x.dtype !== "f32" || !isVector(w, "f32", width) || width === 0 || x.shape.at(-1) !== width)
    fail(operation, "x [..., n], w [n]", [x, w]);
  return { rows: elements(x.shape) / width, width };
}

/** dw [n], dy and x [..., n], w [n], rstd with a value a row */
export function checkRmsNormBackward(
  dw: Tensor,
  dy: Tensor,
  x: Tensor,
  w: Tensor,
  rstd: Tensor,
): { rows: number; width: number } {
  const sizes = checkRmsNorm("rmsNormBackward", x, w);
  if (!sameShape(dw, w) || !sameShape(dy, x) || elements(rstd.shape) !== sizes.rows)
    fail("rmsNormBackward", "dw like w, dy like x, one rstd a row", [dw, dy, x, w, rstd]);
  return sizes;
}

/** x [T,heads,D], cos and sin [P,D/2], positions u32 [T] */
export function checkRope(
  x: Tensor,
  cos: Tensor,
  sin: Tensor,
  positions: Tensor,
): { tokens: number; heads: number; half: number } {
  const [tokens = 0, heads = 0, size = 0] = x.shape;
  const ok =
    x.shape.length === 3 &&
    x.dtype === "f32" &&
    size % 2 === 0 &&
    isMatrix(cos) &&
    sameShape(cos, sin) &&
    cos.shape[1] === size / 2 &&
    isVector(positions, "u32", tokens);
  if (!ok) fail("rope", "x [T,h,D], cos and sin [P,D/2], positions u32 [T]", [x, cos, sin, positions]);
  return { tokens, heads, half: size / 2 };
}

export interface AttentionSizes {
  queries: number;
  keys: number;
  heads: number;
  groups: number;
  size: number;
}

/** q [Tq,H,D], k and v [Tk,G,D], keys u32 [Tq] twice */
export function checkAttention(
  operation: string,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  keys: KeyRange<Tensor>,
): AttentionSizes {
  const [queries = 0, heads = 0, size = 0] = q.shape;
  const [count = 0, groups = 0] = k.shape;
  const ok =
    q.shape.length === 3 &&
    k.shape.length === 3 &&
    q.dtype === "f32" &&
    k.dtype === "f32" &&
    v.dtype === "f32" &&
    sameShape(k, v) &&
    k.shape[2] === size &&
    groups > 0 &&
    heads % groups === 0 &&
    isVector(keys.start, "u32", queries) &&
    isVector(keys.end, "u32", queries);
  if (!ok)
    fail(operation, "q [Tq,H,D], k and v [Tk,G,D], start and end u32 [Tq]", [q, k, v, keys.start, keys.end]);
  return { queries, keys: count, heads, groups, size };
}

export function checkAttentionBackward(
  dout: Tensor,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  o: Tensor,
  lse: Tensor,
  keys: KeyRange<Tensor>,
  queryEnd: Tensor,
): AttentionSizes {
  const sizes = checkAttention("attentionBackward", q, k, v, keys);
  const ok =
    sizes.queries === sizes.keys &&
    sameShape(dout, q) &&
    sameShape(o, q) &&
    lse.shape.length === 2 &&
    lse.shape[0] === sizes.queries &&
    lse.shape[1] === sizes.heads &&
    isVector(queryEnd, "u32", sizes.keys);
  if (!ok)
    fail("attentionBackward", "Tq = Tk, dout and o like q, lse [T,H], queryEnd u32 [T]", [
      dout,
      q,
      k,
      o,
      lse,
      queryEnd,
    ]);
  return sizes;
}

/** h [R,d], w [V,d], targets u32 [R] */
export function checkHead(
  operation: string,
  h: Tensor,
  w: Tensor,
  targets: Tensor,
): { rows: number; vocabulary: number; width: number } {
  const ok = isMatrix(h) && isMatrix(w) && h.shape[1] === w.shape[1] && isVector(targets, "u32", h.shape[0]!);
  if (!ok) fail(operation, "h [R,d], w [V,d], targets u32 [R]", [h, w, targets]);
  return { rows: h.shape[0]!, vocabulary: w.shape[0]!, width: w.shape[1]! };
}

export function checkHeadBackward(
  dw: Tensor | null,
  h: Tensor,
  w: Tensor,
  targets: Tensor,
  lse: Tensor,
  c: Tensor,
): { rows: number; vocabulary: number; width: number } {
  const sizes = checkHead("headBackward", h, w, targets);
  const ok =
    (dw === null || sameShape(dw, w)) && isVector(lse, "f32", sizes.rows) && isVector(c, "f32", sizes.rows);
  if (!ok) fail("headBackward", "dw like w, lse and c [R]", [...(dw === null ? [] : [dw]), h, w, lse, c]);
  return sizes;
}
