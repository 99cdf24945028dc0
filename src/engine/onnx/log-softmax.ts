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

/** log Σ exp of a row of V logits, summed in f64: a token's log-probability is its logit minus this. */
export function logSumExp(logits: Float32Array): number {
  let top = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > top) top = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - top);
  return top + Math.log(sum);
}

/** Entropy in nats of the distribution with these log-probabilities. */
export function entropyOf(logprobs: Float32Array): number {
  let total = 0;
  // A token of probability 0 adds nothing; −∞ · 0 would be NaN.
  for (const logprob of logprobs) if (logprob > -100) total -= Math.exp(logprob) * logprob;
  return total;
}

/** The places of the `top` largest values, the largest first, the earlier of equals first. */
export function largestPlaces(values: Float32Array, top: number): number[] {
  const places: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (places.length === top && value <= values[places[top - 1]!]!) continue;
    if (places.length === top) places.pop();
    let at = places.length;
    while (at > 0 && value > values[places[at - 1]!]!) at -= 1;
    places.splice(at, 0, i);
  }
  return places;
}
