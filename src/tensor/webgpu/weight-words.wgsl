// Values from the words that store them (weight-format.ts), whichever buffer these come from.
fn bf16_values(q: vec2u) -> vec4f {
  return bitcast<vec4f>(vec4u(q.x << 16u, q.x & 0xffff0000u, q.y << 16u, q.y & 0xffff0000u));
}

// By bits: a conversion, `unpack2x16float` too, may take one below 2^-14 for 0.
fn f16_values(q: vec2u) -> vec4f {
  let half = vec4u(q.x & 0xffffu, q.x >> 16u, q.y & 0xffffu, q.y >> 16u);
  let magnitude = half & vec4u(0x7fffu);
  let normal = bitcast<vec4f>((magnitude << vec4u(13u)) + vec4u(0x38000000u));
  let small = vec4f(magnitude) * 5.9604644775390625e-8;
  let size = select(normal, small, magnitude < vec4u(0x400u));
  return select(size, -size, half >= vec4u(0x8000u));
}

// Of int8 and int4 `head` is the word that a block begins with.
fn int8_values(head: u32, q: u32) -> vec4f {
  return bitcast<f32>(head) * vec4f(bitcast<vec4i>(vec4u(q) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u));
}

// The lower half of q.
fn int4_values(head: u32, q: u32) -> vec4f {
  let digits = vec4f((vec4u(q) >> vec4u(0u, 4u, 8u, 12u)) & vec4u(15u));
  return bitcast<f32>(head << 16u) + bitcast<f32>(head & 0xffff0000u) * digits;
}
