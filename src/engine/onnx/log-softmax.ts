/** f32 from the bits of f16 numbers. */
export function fromHalf(bits: Uint16Array): Float32Array {
  const out = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) {
    const half = bits[i]!;
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    const size =
      exponent === 0
        ? fraction * 2 ** -24
        : exponent === 31
          ? fraction === 0
            ? Number.POSITIVE_INFINITY
            : Number.NaN
          : (1 + fraction / 1024) * 2 ** (exponent - 15);
    out[i] = half & 0x8000 ? -size : size;
  }
  return out;
}

/** log softmax(logits)[target] of one row of V logits, summed in f64. */
export function targetLogprob(
  logits: Float32Array,
  from: number,
  vocabulary: number,
  target: number,
): number {
  let top = Number.NEGATIVE_INFINITY;
  for (let i = from; i < from + vocabulary; i++) if (logits[i]! > top) top = logits[i]!;
  let sum = 0;
  for (let i = from; i < from + vocabulary; i++) sum += Math.exp(logits[i]! - top);
  return logits[from + target]! - top - Math.log(sum);
}
