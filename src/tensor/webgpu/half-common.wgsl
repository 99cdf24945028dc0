// What all casts to f16 share: the scale and packing.
// Exponents beyond this are left alone, so that products of scales and of their inverses stay far inside f32.
const FURTHEST = 40;

var<workgroup> most: array<f32, 256>;

fn largest(mine: f32, local: u32) -> f32 {
  most[local] = mine;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (local < half) { most[local] = max(most[local], most[local + half]); }
    workgroupBarrier();
  }
  return most[0];
}

// The power of two that brings the largest magnitude to [2^14, 2^15).
fn shift_of(peak: f32) -> i32 {
  let exponent = i32(bitcast<u32>(peak) >> 23u) - 127;
  return clamp(14 - exponent, -FURTHEST, FURTHEST);
}

fn pack(a: vec4f, b: vec4f) -> vec4u {
  return vec4u(pack2x16float(a.xy), pack2x16float(a.zw), pack2x16float(b.xy), pack2x16float(b.zw));
}
