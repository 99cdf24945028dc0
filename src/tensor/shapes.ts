import type { Draws, KeyRange, LayerCache, NormOf, RowSpan, StepRows, Tensor } from "./tensor.ts";

/**
 * The sizes of every operation, checked in one place so that all backends refuse the same calls with the same words.
 * A wrong shape is a mistake of the caller, never of a user's file: it throws a plain `Error`.
 */

/** How many values a tensor of that shape has; 1 for a scalar, `[]`. */
export function elements(shape: readonly number[]): number {
  let count = 1;
  for (const size of shape) count *= size;
  return count;
}

function show(t: Tensor): string {
  return `${t.dtype}[${t.shape.join(",")}]`;
}

/** Throws what an operation expected, with the types and shapes that it got. */
export function fail(operation: string, expected: string, tensors: readonly Tensor[]): never {
  throw new Error(`${operation}: expected ${expected}, got ${tensors.map(show).join(", ")}`);
}

/** f32 [rows, columns] */
export function isMatrix(t: Tensor): boolean {
  return t.shape.length === 2 && t.dtype === "f32";
}

/** A matrix in any format that weights are stored in. */
function isWeight(t: Tensor): boolean {
  return t.shape.length === 2 && t.dtype !== "u32";
}

/** dtype [size] */
export function isVector(t: Tensor, dtype: "f32" | "u32", size: number): boolean {
  return t.shape.length === 1 && t.dtype === dtype && t.shape[0] === size;
}

/** A part of a tensor's values. */
export function checkRange(t: Tensor, range: { at: number; count: number } | undefined): void {
  const total = elements(t.shape);
  if (range && (range.at < 0 || range.count < 0 || range.at + range.count > total))
    throw new Error(`read: ${range.count} values from ${range.at} on of ${total}`);
}

/** Of the same rank and sizes; dtypes may differ. */
export function sameShape(a: Tensor, b: Tensor): boolean {
  return a.shape.length === b.shape.length && a.shape.every((size, i) => size === b.shape[i]);
}

/** f32 tensors of one shape; returns how many values each has. */
export function checkSame(operation: string, ...tensors: Tensor[]): number {
  const first = tensors[0]!;
  if (tensors.some((t) => t.dtype !== "f32" || !sameShape(first, t)))
    fail(operation, "f32 tensors of one shape", tensors);
  return elements(first.shape);
}

/** x [M,K], w [N,K] */
export function checkLinear(
  operation: string,
  x: Tensor,
  w: Tensor,
  fine: RowSpan = { first: 0, end: 0 },
): { m: number; n: number; k: number } {
  if (!isMatrix(x) || !isWeight(w) || x.shape[1] !== w.shape[1]) fail(operation, "x [M,K], w [N,K]", [x, w]);
  if (!(0 <= fine.first && fine.first <= fine.end && fine.end <= w.shape[0]!))
    throw new Error(`${operation}: fine rows ${fine.first} to ${fine.end} of ${w.shape[0]}`);
  return { m: x.shape[0]!, n: w.shape[0]!, k: w.shape[1]! };
}

/** x [M,K], at least one w [N,K], a norm's weight [K] */
export function checkLinearJoined(x: Tensor, weights: readonly Tensor[], norm?: NormOf): void {
  if (weights.length === 0) throw new Error("linearJoined: at least one weight");
  for (const w of weights) checkLinear("linearJoined", x, w);
  if (norm !== undefined) checkRmsNorm("linearJoined", x, norm.weight);
}

/** x [M,K], gate and up [N,K], a norm's weight [K] */
export function checkLinearSwiglu(x: Tensor, gate: Tensor, up: Tensor, norm?: NormOf): void {
  checkLinear("linearSwiglu", x, gate);
  if (gate.dtype !== up.dtype || !sameShape(gate, up))
    fail("linearSwiglu", "gate and up of one shape and format", [gate, up]);
  if (norm !== undefined) checkRmsNorm("linearSwiglu", x, norm.weight);
}

/** y [M,N], x [M,K], w [N,K] */
export function checkAddLinear(y: Tensor, x: Tensor, w: Tensor): void {
  const { m, n } = checkLinear("addLinear", x, w);
  if (!isMatrix(y) || y.shape[0] !== m || y.shape[1] !== n)
    fail("addLinear", "y [M,N], x [M,K], w [N,K]", [y, x, w]);
}

/** dy [M,N], w [N,K] */
export function checkLinearBackwardInput(dy: Tensor, w: Tensor): { m: number; n: number; k: number } {
  if (!isMatrix(dy) || !isWeight(w) || dy.shape[1] !== w.shape[0])
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
  if (!isWeight(table) || ids.dtype !== "u32" || ids.shape.length !== 1)
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

/** x [T, …] f32 or f16, rows u32 [R]. Returns the shape of the picked rows [R, …], and the values of one row. */
export function checkRows(operation: string, x: Tensor, rows: Tensor): { shape: number[]; width: number } {
  const ok =
    x.shape.length >= 2 &&
    (x.dtype === "f32" || x.dtype === "f16") &&
    rows.dtype === "u32" &&
    rows.shape.length === 1;
  if (!ok) fail(operation, "x [T, …], rows u32 [R]", [x, rows]);
  const row = x.shape.slice(1);
  return { shape: [rows.shape[0]!, ...row], width: elements(row) };
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
    (dst.dtype === "f32" || dst.dtype === "u32") &&
    dst.shape.every((size, i) => i === 0 || size === src.shape[i]) &&
    at >= 0 &&
    at + src.shape[0]! <= dst.shape[0]!;
  if (!ok) fail(`copyRows at ${at}`, "dst [N, …], src [n, …] with at + n ≤ N", [dst, src]);
  return { rowSize };
}

/** dst [N, …] f32, or f16 with whole vec4s in a row; rows u32 [n], src [n, …] f32. Returns the values of one row. */
export function checkPutRows(dst: Tensor, rows: Tensor, src: Tensor): { count: number; width: number } {
  const count = src.shape[0] ?? 0;
  const width = elements(dst.shape.slice(1));
  const ok =
    (dst.dtype === "f32" || (dst.dtype === "f16" && width % 4 === 0)) &&
    src.dtype === "f32" &&
    dst.shape.length >= 1 &&
    dst.shape.length === src.shape.length &&
    dst.shape.every((size, i) => i === 0 || size === src.shape[i]) &&
    isVector(rows, "u32", count);
  if (!ok) fail("putRows", "dst [N, …], rows u32 [n], src [n, …]", [dst, rows, src]);
  return { count, width };
}

/** x [..., n], w [n] */
export function checkRmsNorm(operation: string, x: Tensor, w: Tensor): { rows: number; width: number } {
  const width = w.shape[0] ?? 0;
  if (x.dtype !== "f32" || !isVector(w, "f32", width) || width === 0 || x.shape.at(-1) !== width)
    fail(operation, "x [..., n], w [n]", [x, w]);
  return { rows: elements(x.shape) / width, width };
}

/** a and b [..., n], w [n] */
export function checkAddRmsNorm(a: Tensor, b: Tensor, w: Tensor): { rows: number; width: number } {
  checkSame("addRmsNorm", a, b);
  return checkRmsNorm("addRmsNorm", a, w);
}

/** x [T,heads,D], w [D], cos and sin [P,r/2], positions u32 [T] */
export function checkRmsNormRope(
  x: Tensor,
  w: Tensor,
  cos: Tensor,
  sin: Tensor,
  positions: Tensor,
): { rows: number; width: number } {
  checkRope(x, cos, sin, positions);
  return checkRmsNorm("rmsNormRope", x, w);
}

/** dw [n], dy, x and plus [..., n], w [n], rstd with one value per row */
export function checkRmsNormBackward(
  dw: Tensor | null,
  dy: Tensor,
  x: Tensor,
  w: Tensor,
  rstd: Tensor,
  plus: Tensor | null,
): { rows: number; width: number } {
  const sizes = checkRmsNorm("rmsNormBackward", x, w);
  const like = plus === null ? [dy] : [dy, plus];
  const weights = dw === null ? [w] : [dw, w];
  const ok = weights.every((t) => sameShape(t, w)) && like.every((t) => sameShape(t, x));
  if (!ok || elements(rstd.shape) !== sizes.rows)
    fail("rmsNormBackward", "dw like w, dy and plus like x, one rstd a row", [...weights, ...like, x, rstd]);
  return sizes;
}

/** x [T,heads,D], cos and sin [P,r/2] with r ≤ D, positions u32 [T]. `half` is r/2. */
export function checkRope(
  x: Tensor,
  cos: Tensor,
  sin: Tensor,
  positions: Tensor,
): { tokens: number; heads: number; size: number; half: number } {
  const [tokens = 0, heads = 0, size = 0] = x.shape;
  const half = cos.shape[1] ?? 0;
  const ok =
    x.shape.length === 3 &&
    x.dtype === "f32" &&
    size % 2 === 0 &&
    isMatrix(cos) &&
    sameShape(cos, sin) &&
    2 * half <= size &&
    isVector(positions, "u32", tokens);
  if (!ok)
    fail("rope", "x [T,h,D], cos and sin [P,r/2] with r ≤ D even, positions u32 [T]", [
      ...[x, cos, sin, positions],
    ]);
  return { tokens, heads, size, half };
}

export interface AttentionSizes {
  queries: number;
  keys: number;
  heads: number;
  groups: number;
  size: number;
}

/** q [Tq,H,D], k and v [Tk,G,D], keys u32 [Tq] twice, or four times with a prefix */
export function checkAttention(
  operation: string,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  keys: KeyRange<Tensor>,
): AttentionSizes {
  const [queries = 0, heads = 0, size = 0] = q.shape;
  const [count = 0, groups = 0] = k.shape;
  const { start, end, prefixStart, prefixEnd } = keys;
  const ranges = [start, end, prefixStart, prefixEnd].filter((t) => t !== undefined);
  const ok =
    q.shape.length === 3 &&
    k.shape.length === 3 &&
    q.dtype === "f32" &&
    (k.dtype === "f32" || (k.dtype === "f16" && keys.most !== undefined)) &&
    v.dtype === k.dtype &&
    sameShape(k, v) &&
    k.shape[2] === size &&
    groups > 0 &&
    heads % groups === 0 &&
    (prefixStart === undefined) === (prefixEnd === undefined) &&
    ranges.every((t) => isVector(t, "u32", queries));
  if (!ok) fail(operation, "q [Tq,H,D], k and v [Tk,G,D], ranges of keys u32 [Tq]", [q, k, v, ...ranges]);
  return { queries, keys: count, heads, groups, size };
}

/**
 * cache [N,G,D] twice, qkv [T, (H+2G)·D], norms [D], cos and sin [P,r/2] with r ≤ D, positions, rows, starts and ends u32
 * [T]. `half` is r/2.
 */
export function checkAttendNext<T extends Tensor>(
  { k, v }: LayerCache<T>,
  qkv: T,
  norms: { query: T; key: T },
  { cos, sin }: { cos: T; sin: T },
  { positions, rows, starts, ends }: StepRows<T>,
): AttentionSizes & { half: number } {
  const [keys = 0, groups = 0, size = 0] = k.shape;
  const [queries = 0, width = 0] = qkv.shape;
  const heads = width / size - 2 * groups;
  const half = cos.shape[1] ?? 0;
  const [weights, places] = [
    [norms.query, norms.key],
    [positions, rows, starts, ends],
  ];
  const ok =
    isMatrix(qkv) &&
    k.shape.length === 3 &&
    (k.dtype === "f32" || k.dtype === "f16") &&
    v.dtype === k.dtype &&
    sameShape(k, v) &&
    groups > 0 &&
    size % 2 === 0 &&
    heads > 0 &&
    heads % groups === 0 &&
    weights.every((w) => isVector(w, "f32", size)) &&
    isMatrix(cos) &&
    sameShape(cos, sin) &&
    2 * half <= size &&
    places.every((t) => isVector(t, "u32", queries));
  if (!ok)
    fail("attendNext", "cache [N,G,D], qkv [T, (H+2G)·D], norms [D], cos and sin [P,r/2], u32 [T]", [
      ...[k, v, qkv, ...weights, cos, sin, ...places],
    ]);
  return { queries, keys, heads, groups, size, half };
}

/** As `checkAttention` with Tq = Tk = T; dout and o [T,H,D], lse [T,H] (natural log), queryEnd u32 [T] */
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
  const ok = isMatrix(h) && isWeight(w) && h.shape[1] === w.shape[1] && isVector(targets, "u32", h.shape[0]!);
  if (!ok) fail(operation, "h [R,d], w [V,d], targets u32 [R]", [h, w, targets]);
  return { rows: h.shape[0]!, vocabulary: w.shape[0]!, width: w.shape[1]! };
}

/** Most probable tokens that a row can be asked for. */
export const MOST_TOP = 64;

/** h [R,d], w [V,d], lse [R], top whole from 0 to V and 64 */
export function checkHeadDistribution(
  h: Tensor,
  w: Tensor,
  lse: Tensor,
  top: number,
): { rows: number; vocabulary: number; width: number } {
  const ok = isMatrix(h) && isWeight(w) && h.shape[1] === w.shape[1] && isVector(lse, "f32", h.shape[0]!);
  if (!ok) fail("headDistribution", "h [R,d], w [V,d], lse [R]", [h, w, lse]);
  const vocabulary = w.shape[0]!;
  if (!Number.isInteger(top) || top < 0 || top > Math.min(MOST_TOP, vocabulary))
    throw new Error(
      `headDistribution: the ${top} most probable tokens of ${vocabulary}; at most ${MOST_TOP}`,
    );
  return { rows: h.shape[0]!, vocabulary, width: w.shape[1]! };
}

/** As `checkHead`; dw like w and f32, or null where the head is frozen; lse and c f32 [rows] */
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
    (dw === null || (dw.dtype === "f32" && w.dtype === "f32" && sameShape(dw, w))) &&
    isVector(lse, "f32", sizes.rows) &&
    isVector(c, "f32", sizes.rows);
  if (!ok) fail("headBackward", "dw like w, lse and c [R]", [...(dw === null ? [] : [dw]), h, w, lse, c]);
  return sizes;
}

/** logits and teacher [M,V], c [M] */
export function checkReverseKl(
  logits: Tensor,
  teacher: Tensor,
  c: Tensor,
): { rows: number; vocabulary: number } {
  const [rows = 0, vocabulary = 0] = logits.shape;
  const ok = isMatrix(logits) && isMatrix(teacher) && sameShape(logits, teacher) && isVector(c, "f32", rows);
  if (!ok) fail("reverseKl", "logits and teacher [M,V], c [M]", [logits, teacher, c]);
  return { rows, vocabulary };
}

/** logits [M,V], ids u32 and teacher [M,k], c [M]; k from 1 to 64 and V */
export function checkTopReverseKl(
  logits: Tensor,
  ids: Tensor,
  teacher: Tensor,
  c: Tensor,
): { rows: number; vocabulary: number; k: number } {
  const [rows = 0, vocabulary = 0] = logits.shape;
  const k = teacher.shape[1] ?? 0;
  const ok =
    isMatrix(logits) &&
    isMatrix(teacher) &&
    teacher.shape[0] === rows &&
    ids.dtype === "u32" &&
    sameShape(ids, { dtype: "u32", shape: teacher.shape }) &&
    isVector(c, "f32", rows);
  if (!ok) fail("topReverseKl", "logits [M,V], ids u32 and teacher [M,k], c [M]", [logits, ids, teacher, c]);
  if (k < 1 || k > Math.min(MOST_TOP, vocabulary))
    throw new Error(`topReverseKl: ${k} of ${vocabulary} tokens; at least 1 and at most ${MOST_TOP}`);
  return { rows, vocabulary, k };
}

/** logits [M,V], and the tensors of `Draws` in their shapes. */
export function checkDrawTokens(
  logits: Tensor,
  draws: Draws<Tensor>,
): { sequences: number; vocabulary: number; longest: number; stops: number; ranges: number } {
  const [sequences = 0, vocabulary = 0] = logits.shape;
  const { temperatures, bounds, uniforms, limits, stops, drawable, results, progress } = draws;
  const longest = uniforms.shape[1] ?? 0;
  const is = (t: Tensor, ...shape: number[]) => t.dtype === "f32" && sameShape(t, { dtype: "f32", shape });
  const ok =
    isMatrix(logits) &&
    vocabulary > 0 &&
    longest > 0 &&
    is(temperatures, sequences) &&
    is(bounds, sequences, 2) &&
    is(uniforms, sequences, longest) &&
    is(results, sequences, longest, 2) &&
    is(progress, sequences, 2) &&
    [limits, draws.ids, draws.positions, draws.rows, draws.ends].every((t) =>
      isVector(t, "u32", sequences),
    ) &&
    [stops, drawable].every((t) => t.dtype === "u32" && t.shape.length === 1 && t.shape[0]! > 0) &&
    drawable.shape[0]! % 2 === 0;
  if (!ok)
    fail("drawTokens", "logits [M,V] and the shapes of Draws", [
      logits,
      ...Object.values<Tensor>({ ...draws }),
    ]);
  return { sequences, vocabulary, longest, stops: stops.shape[0]!, ranges: drawable.shape[0]! / 2 };
}
