// Comes before both backward passes by the matrix units: what they read, in the order of their bindings.
struct Params {
  base: u32,
  queries: u32, keys: u32, heads: u32, groups: u32,
  // Blocks of rows: of queries for dQ, of keys for dK and dV.
  blocks: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
// f16, eight per vec4u.
@group(0) @binding(1) var<storage, ${HELD_Q}> q: array<vec4u>;
@group(0) @binding(2) var<storage, ${HELD_K}> k: array<vec4u>;
@group(0) @binding(3) var<storage, ${HELD_K}> v: array<vec4u>;
@group(0) @binding(4) var<storage, ${HELD_Q}> dout: array<vec4u>;
// Per query row and head: (lse, D).
@group(0) @binding(5) var<storage, read> stats: array<vec2f>;

// |P (dO · V − D)| is at most 2^31 D, since all f16 operands are below 2^15: this brings it into the range of f16.
const SLOPE = 1.0 / (65536.0 * ${D}.0);
