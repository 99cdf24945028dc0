// Comes before the f32 kernels: what a product is asked for, and its operands in f32, or in f16 packed two per u32 (core
// WGSL, no shader-f16), four at a time.
struct Params {
  base: u32,
  M: u32, N: u32, K: u32,
  // First value and values per row; of A and B in vec4s, of C in values.
  a_at: u32, a_row: u32,
  b_at: u32, b_row: u32,
  c_at: u32, c_row: u32,
  // Where k is cut: values of k per part, and how many parts.
  part: u32, parts: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> A: array<${A_TYPE}>;
@group(0) @binding(2) var<storage, read> B: array<${B_TYPE}>;
@group(0) @binding(3) var<storage, read_write> C: array<f32>;
// @for half in HALF
@group(0) @binding(4) var<storage, read> scale_a: array<f32>;
@group(0) @binding(5) var<storage, read> scale_b: array<f32>;
// @end

fn a_values(i: u32) -> vec4f { return ${A_VALUES}; }
fn b_values(i: u32) -> vec4f { return ${B_VALUES}; }
// What C is multiplied by.
fn product_scale() -> f32 { return ${SCALE}; }
