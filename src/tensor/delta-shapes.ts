import { elements, fail, isMatrix, isVector, sameShape } from "./shapes.ts";
import type { Tensor } from "./tensor.ts";

/** The sizes of the operations of linear attention and of columns, checked as those of shapes.ts. */

/** x [R, Σ widths] */
export function checkSplitColumns(x: Tensor, widths: readonly number[]): { rows: number; width: number } {
  const width = widths.reduce((sum, size) => sum + size, 0);
  if (!isMatrix(x) || x.shape[1] !== width)
    fail(`splitColumns into ${widths.join(" + ")}`, "x [R, Σ widths]", [x]);
  return { rows: x.shape[0]!, width };
}

/** Parts [R, width] */
export function checkJoinColumns(parts: readonly Tensor[]): { rows: number; width: number } {
  const rows = parts[0]?.shape[0] ?? 0;
  if (parts.length === 0 || parts.some((t) => !isMatrix(t) || t.shape[0] !== rows))
    fail("joinColumns", "parts [R, width] of as many rows", parts);
  return { rows, width: parts.reduce((sum, { shape }) => sum + shape[1]!, 0) };
}

export interface ConvSizes {
  tokens: number;
  channels: number;
  /** K */
  kernel: number;
}

/** x [T,C], w [C,1,K], start u32 [T] */
export function checkCausalConv(operation: string, x: Tensor, w: Tensor, start: Tensor): ConvSizes {
  const [tokens = 0, channels = 0] = x.shape;
  const [rows, one, kernel = 0] = w.shape;
  const ok =
    isMatrix(x) &&
    w.dtype === "f32" &&
    w.shape.length === 3 &&
    rows === channels &&
    one === 1 &&
    kernel > 0 &&
    isVector(start, "u32", tokens);
  if (!ok) fail(operation, "x [T,C], w [C,1,K], start u32 [T]", [x, w, start]);
  return { tokens, channels, kernel };
}

/** As `checkCausalConv`; dw [C,1,K], dy [T,C], end u32 [T] */
export function checkCausalConvBackward(
  dw: Tensor,
  dy: Tensor,
  x: Tensor,
  w: Tensor,
  start: Tensor,
  end: Tensor,
): ConvSizes {
  const sizes = checkCausalConv("causalConvBackward", x, w, start);
  if (!sameShape(dw, w) || !sameShape(dy, x) || !isVector(end, "u32", sizes.tokens))
    fail("causalConvBackward", "dw like w, dy like x, end u32 [T]", [dw, dy, x, w, end]);
  return sizes;
}

/** a and b [T,N], aLog and bias [N] */
export function checkDeltaGates(
  operation: string,
  a: Tensor,
  b: Tensor,
  aLog: Tensor,
  bias: Tensor,
): { tokens: number; heads: number } {
  const [tokens = 0, heads = 0] = a.shape;
  const ok =
    isMatrix(a) && isMatrix(b) && sameShape(a, b) && isVector(aLog, "f32", heads) && sameShape(aLog, bias);
  if (!ok) fail(operation, "a and b [T,N], aLog and bias [N]", [a, b, aLog, bias]);
  return { tokens, heads };
}

/** As `checkDeltaGates`; daLog and dbias [N], dgates [T,N,2] */
export function checkDeltaGatesBackward(
  daLog: Tensor,
  dbias: Tensor,
  dgates: Tensor,
  a: Tensor,
  b: Tensor,
  aLog: Tensor,
  bias: Tensor,
): { tokens: number; heads: number } {
  const sizes = checkDeltaGates("deltaGatesBackward", a, b, aLog, bias);
  const ok =
    sameShape(daLog, aLog) &&
    sameShape(dbias, bias) &&
    dgates.dtype === "f32" &&
    dgates.shape.length === 3 &&
    dgates.shape[0] === sizes.tokens &&
    dgates.shape[1] === sizes.heads &&
    dgates.shape[2] === 2;
  if (!ok) fail("deltaGatesBackward", "daLog and dbias [N], dgates [T,N,2]", [daLog, dbias, dgates]);
  return sizes;
}

export interface DeltaRuleSizes {
  tokens: number;
  sequences: number;
  /** G */
  keyHeads: number;
  /** N */
  valueHeads: number;
  /** dk */
  keySize: number;
  /** dv */
  valueSize: number;
}

function isShape(t: Tensor, shape: readonly number[]): boolean {
  return t.dtype === "f32" && sameShape(t, { ...t, shape });
}

/** q and k [T,G,dk], v [T,N,dv], gates [T,N,2], sequences u32 [S+1], state [S,N,dk,dv] */
export function checkDeltaRule(
  operation: string,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  gates: Tensor,
  sequences: Tensor,
  state?: Tensor,
): DeltaRuleSizes {
  const [tokens = 0, keyHeads = 0, keySize = 0] = q.shape;
  const [, valueHeads = 0, valueSize = 0] = v.shape;
  const count = (sequences.shape[0] ?? 0) - 1;
  const ok =
    q.shape.length === 3 &&
    isShape(q, [tokens, keyHeads, keySize]) &&
    isShape(k, q.shape) &&
    isShape(v, [tokens, valueHeads, valueSize]) &&
    isShape(gates, [tokens, valueHeads, 2]) &&
    keyHeads > 0 &&
    valueHeads % keyHeads === 0 &&
    count >= 0 &&
    isVector(sequences, "u32", count + 1) &&
    (state === undefined || isShape(state, [count, valueHeads, keySize, valueSize]));
  if (!ok)
    fail(operation, "q and k [T,G,dk], v [T,N,dv], gates [T,N,2], sequences u32 [S+1], state [S,N,dk,dv]", [
      ...[q, k, v, gates, sequences],
      ...(state === undefined ? [] : [state]),
    ]);
  return { tokens, sequences: count, keyHeads, valueHeads, keySize, valueSize };
}

/** k [T,G,dk], gates [T,N,2], errors [T,N,dv], spans u32 [P,2] */
export function checkDeltaStates(
  k: Tensor,
  gates: Tensor,
  errors: Tensor,
  spans: Tensor,
): Omit<DeltaRuleSizes, "sequences"> & { states: number } {
  const [tokens = 0, keyHeads = 0, keySize = 0] = k.shape;
  const [, valueHeads = 0, valueSize = 0] = errors.shape;
  const ok =
    isShape(k, [tokens, keyHeads, keySize]) &&
    isShape(gates, [tokens, valueHeads, 2]) &&
    isShape(errors, [tokens, valueHeads, valueSize]) &&
    keyHeads > 0 &&
    valueHeads % keyHeads === 0 &&
    spans.dtype === "u32" &&
    spans.shape.length === 2 &&
    spans.shape[1] === 2;
  if (!ok)
    fail("deltaStates", "k [T,G,dk], gates [T,N,2], errors [T,N,dv], spans u32 [P,2]", [
      ...[k, gates, errors, spans],
    ]);
  return { tokens, states: spans.shape[0]!, keyHeads, valueHeads, keySize, valueSize };
}

/** As `checkDeltaRule` without a state before; dout, o and errors [T,N,dv] */
export function checkDeltaRuleBackward(
  dout: Tensor,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  gates: Tensor,
  sequences: Tensor,
  o: Tensor,
  errors: Tensor,
): DeltaRuleSizes {
  const sizes = checkDeltaRule("deltaRuleBackward", q, k, v, gates, sequences);
  if (!sameShape(dout, v) || !sameShape(o, v) || !sameShape(errors, v) || elements(v.shape) === 0)
    fail("deltaRuleBackward", "dout, o and errors like v", [dout, o, errors, v]);
  return sizes;
}
