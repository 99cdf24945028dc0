// A part of an f32 tensor as bf16, two values per u32, the first in the lower half. Four values per thread; the last
// thread may reach into the part's padding, whose values mean nothing.
struct Params {
  base: u32,
  // Groups of four values.
  count: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
// Bits of f32.
@group(0) @binding(1) var<storage, read_write> x: array<vec4u>;
// round_to
@group(0) @binding(2) var<storage, read_write> rounded: array<vec2u>;
// add_rounded, replace_rounded
@group(0) @binding(2) var<storage, read> given: array<vec2u>;

// The nearest f32 whose lower half is 0, ties to even; a NaN stays one.
fn nearest(bits: vec4u) -> vec4u {
  let even = (bits + vec4u(0x7fffu) + ((bits >> vec4u(16u)) & vec4u(1u))) & vec4u(0xffff0000u);
  let quiet = (bits & vec4u(0xffff0000u)) | vec4u(0x400000u);
  return select(even, quiet, (bits & vec4u(0x7fffffffu)) > vec4u(0x7f800000u));
}

fn widened(halves: vec2u) -> vec4u {
  return vec4u(halves.x << 16u, halves.x & 0xffff0000u, halves.y << 16u, halves.y & 0xffff0000u);
}

@compute @workgroup_size(64)
fn round_to(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i >= P.count) { return; }
  let bits = nearest(x[i]);
  rounded[i] = (bits.xz >> vec2u(16u)) | bits.yw;
  // Whoever hands out a sum keeps the bits that the others get.
  x[i] = bits;
}

@compute @workgroup_size(64)
fn add_rounded(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) { x[i] = bitcast<vec4u>(bitcast<vec4f>(x[i]) + bitcast<vec4f>(widened(given[i]))); }
}

@compute @workgroup_size(64)
fn replace_rounded(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) { x[i] = widened(given[i]); }
}
