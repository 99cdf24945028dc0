// Values of weights (weight-words.wgsl) in `words`, by row and column. P.width: values per row; of int8 and int4 P.group
// values per group, P.block words per block and P.row_words words per row.
fn one_f32(row: u32, column: u32) -> f32 { return bitcast<f32>(words[row * P.width + column]); }

fn four_f32(row: u32, column: u32) -> vec4f {
  let i = row * P.width + column;
  return bitcast<vec4f>(vec4u(words[i], words[i + 1u], words[i + 2u], words[i + 3u]));
}

fn half_at(i: u32) -> vec2u { return vec2u((words[i / 2u] >> (16u * (i % 2u))) & 0xffffu, 0u); }

fn four_halves(i: u32) -> vec2u { return vec2u(words[i / 2u], words[i / 2u + 1u]); }

fn one_bf16(row: u32, column: u32) -> f32 { return bf16_values(half_at(row * P.width + column)).x; }

fn four_bf16(row: u32, column: u32) -> vec4f { return bf16_values(four_halves(row * P.width + column)); }

fn one_f16(row: u32, column: u32) -> f32 { return f16_values(half_at(row * P.width + column)).x; }

fn four_f16(row: u32, column: u32) -> vec4f { return f16_values(four_halves(row * P.width + column)); }

fn block_of(row: u32, column: u32) -> u32 { return row * P.row_words + column / P.group * P.block; }

// Four neighbours of one group; those past the end of a row are 0 or not asked for.
fn four_int8(row: u32, column: u32) -> vec4f {
  let begin = block_of(row, column);
  return int8_values(words[begin], words[begin + 1u + column % P.group / 4u]);
}

fn one_int8(row: u32, column: u32) -> f32 { return four_int8(row, column / 4u * 4u)[column % 4u]; }

fn four_int4(row: u32, column: u32) -> vec4f {
  let begin = block_of(row, column);
  let within = column % P.group;
  return int4_values(words[begin], words[begin + 1u + within / 8u] >> (4u * (within % 8u)));
}

fn one_int4(row: u32, column: u32) -> f32 { return four_int4(row, column / 4u * 4u)[column % 4u]; }
