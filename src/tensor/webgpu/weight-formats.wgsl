// Values of weights as weight-format.ts stores them in `words`. P.width: values per row; of int8 and int4 P.group values per
// group, P.block words per block and P.row_words words per row.
fn one_f32(row: u32, column: u32) -> f32 { return bitcast<f32>(words[row * P.width + column]); }

fn four_f32(row: u32, column: u32) -> vec4f {
  let i = row * P.width + column;
  return bitcast<vec4f>(vec4u(words[i], words[i + 1u], words[i + 2u], words[i + 3u]));
}

fn half_at(i: u32) -> u32 { return (words[i / 2u] >> (16u * (i % 2u))) & 0xffffu; }

fn four_halves(i: u32) -> vec4u {
  let low = words[i / 2u];
  let high = words[i / 2u + 1u];
  return vec4u(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u);
}

fn one_bf16(row: u32, column: u32) -> f32 { return bitcast<f32>(half_at(row * P.width + column) << 16u); }

fn four_bf16(row: u32, column: u32) -> vec4f {
  return bitcast<vec4f>(four_halves(row * P.width + column) << vec4u(16u));
}

// f16 by its bits: a conversion may take one below 2^-14 for 0.
fn widened(half: vec4u) -> vec4f {
  let magnitude = half & vec4u(0x7fffu);
  let normal = bitcast<vec4f>((magnitude << vec4u(13u)) + vec4u(0x38000000u));
  let small = vec4f(magnitude) * 5.9604644775390625e-8;
  let size = select(normal, small, magnitude < vec4u(0x400u));
  return select(size, -size, half >= vec4u(0x8000u));
}

fn one_f16(row: u32, column: u32) -> f32 { return widened(vec4u(half_at(row * P.width + column))).x; }

fn four_f16(row: u32, column: u32) -> vec4f { return widened(four_halves(row * P.width + column)); }

fn block_of(row: u32, column: u32) -> u32 { return row * P.row_words + column / P.group * P.block; }

// Four neighbours of one group; those past the end of a row are 0 or not asked for.
fn four_int8(row: u32, column: u32) -> vec4f {
  let begin = block_of(row, column);
  let q = bitcast<vec4i>(vec4u(words[begin + 1u + column % P.group / 4u]) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u);
  return bitcast<f32>(words[begin]) * vec4f(q);
}

fn one_int8(row: u32, column: u32) -> f32 { return four_int8(row, column / 4u * 4u)[column % 4u]; }

fn four_int4(row: u32, column: u32) -> vec4f {
  let begin = block_of(row, column);
  let within = column % P.group;
  let packed = words[begin + 1u + within / 8u] >> (4u * (within % 8u));
  let q = (vec4u(packed) >> vec4u(0u, 4u, 8u, 12u)) & vec4u(15u);
  let head = words[begin];
  return bitcast<f32>(head << 16u) + bitcast<f32>(head & 0xffff0000u) * vec4f(q);
}

fn one_int4(row: u32, column: u32) -> f32 { return four_int4(row, column / 4u * 4u)[column % 4u]; }
