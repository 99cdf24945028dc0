// Frozen weights (weight-formats.wgsl) straight to f16, in rows or in panels (half.wgsl), without an f32 copy in between.
// The scale of a weight is found once, from all its values.
struct Params {
  base: u32,
  // The matrix, both sizes whole: rows of any number, of width a multiple of 8.
  rows: u32, width: u32,
  // Of int8 and int4: values per group, words per block and words per row.
  group: u32, block: u32, row_words: u32,
  // Workgroups that look for the largest value; rows of a panel; pieces of eight values.
  parts: u32, panel_rows: u32, pieces: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
// weight_peaks
@group(0) @binding(2) var<storage, read_write> new_peaks: array<f32>;
// weight_scale
@group(0) @binding(1) var<storage, read> peaks: array<f32>;
@group(0) @binding(2) var<storage, read_write> new_scale: array<f32>;
// expand_half, expand_panels
@group(0) @binding(2) var<storage, read> scale: array<f32>;
@group(0) @binding(3) var<storage, read_write> values: array<vec4u>;

@compute @workgroup_size(256)
fn weight_peaks(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  if (group >= P.parts) { return; }
  let columns = P.width / 4u;
  var found = vec4f();
  for (var i = group * 256u + local; i < P.rows * columns; i += P.parts * 256u) {
    found = max(found, abs(four_${FORMAT}(i / columns, i % columns * 4u)));
  }
  let peak = largest(max(max(found.x, found.y), max(found.z, found.w)), local);
  if (local == 0u) { new_peaks[group] = peak; }
}

// One workgroup.
@compute @workgroup_size(256)
fn weight_scale(@builtin(local_invocation_index) local: u32) {
  var mine = 0.0;
  if (local < P.parts) { mine = peaks[local]; }
  let shift = shift_of(largest(mine, local));
  if (local == 0u) { new_scale[0] = bitcast<f32>(u32(127 - shift) << 23u); }
}

fn eight(row: u32, column: u32) -> vec4u {
  // The inverse of a power of two, exactly.
  let factor = bitcast<f32>((254u - (bitcast<u32>(scale[0]) >> 23u)) << 23u);
  return pack(four_${FORMAT}(row, column) * factor, four_${FORMAT}(row, column + 4u) * factor);
}

@compute @workgroup_size(256)
fn expand_half(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let piece = group_number(P.base, workgroup, groups) * 256u + local;
  let columns = P.width / 8u;
  if (piece < P.pieces) { values[piece] = eight(piece / columns, piece % columns * 8u); }
}

@compute @workgroup_size(256)
fn expand_panels(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let piece = group_number(P.base, workgroup, groups) * 256u + local;
  if (piece >= P.pieces) { return; }
  let at = place(piece);
  var value = vec4u();
  if (at.x < P.rows && at.y < P.width) { value = eight(at.x, at.y); }
  values[piece] = value;
}
