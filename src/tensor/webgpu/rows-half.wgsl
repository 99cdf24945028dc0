// Rows of x to f16, each scaled by the power of two that brings its largest magnitude to [2^14, 2^15); rows past the last
// are 0. A workgroup has a row.
struct Params {
  base: u32,
  // Rows of x, and eights of values in a row.
  rows: u32, eights: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> values: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> row_scale: array<f32>;

@compute @workgroup_size(256)
fn rows_half(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let r = group_number(P.base, workgroup, groups);
  let inside = r < P.rows;
  let first = min(r, P.rows - 1u) * P.eights;
  var found = vec4f();
  for (var i = local; i < P.eights; i += 256u) {
    found = max(found, max(abs(x[2u * (first + i)]), abs(x[2u * (first + i) + 1u])));
  }
  let shift = shift_of(largest(max(max(found.x, found.y), max(found.z, found.w)), local));
  let factor = select(0.0, bitcast<f32>(u32(127 + shift) << 23u), inside);
  for (var i = local; i < P.eights; i += 256u) {
    values[r * P.eights + i] = pack(x[2u * (first + i)] * factor, x[2u * (first + i) + 1u] * factor);
  }
  if (local == 0u) { row_scale[r] = bitcast<f32>(u32(127 - shift) << 23u); }
}
