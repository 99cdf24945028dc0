// f32 values to f16, two per u32, scaled by the power of two that brings their largest magnitude to [2^14, 2^15): neither
// activations above 65,504 nor gradients of 1e-8 are lost. Core WGSL: needs no shader-f16.
//
// In rows, or as the matrix kernels read them, in panels of 32 columns, one after the other. In a panel the rows follow each
// other, 64 bytes each, those of every group of eight in the order 0 4 1 5 2 6 3 7: eight threads that read 128 bytes in one
// piece then store them to different banks of workgroup memory. Zeros fill panels up to whole 128 × 128.
struct Params {
  base: u32,
  // Values, and workgroups that look for the largest.
  length: u32, parts: u32,
  // Of panels: the matrix, rows of a panel, and pieces of 16 bytes in all.
  rows: u32, columns: u32, panel_rows: u32, pieces: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
// half_peaks
@group(0) @binding(2) var<storage, read_write> new_peaks: array<f32>;
// half_cast, panels_cast
@group(0) @binding(2) var<storage, read> peaks: array<f32>;
@group(0) @binding(3) var<storage, read_write> values: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> scale: array<f32>;
// panels_lost
@group(0) @binding(2) var<storage, read> scale_in: array<f32>;
@group(0) @binding(3) var<storage, read_write> lost_values: array<vec4u>;
// panels_copy
@group(0) @binding(1) var<storage, read> in_rows: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> in_panels: array<vec4u>;

// x[4 i …], with 0 past the end: what the buffer holds there is not of this tensor.
fn load(i: u32) -> vec4f {
  if (i * 4u >= P.length) { return vec4f(); }
  return select(vec4f(), x[i], vec4u(i * 4u) + vec4u(0u, 1u, 2u, 3u) < vec4u(P.length));
}

@compute @workgroup_size(256)
fn half_peaks(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  if (group >= P.parts) { return; }
  let count = (P.length + 3u) / 4u;
  let step = P.parts * 256u;
  var found = vec4f();
  var i = group * 256u + local;
  for (; i + 3u * step < P.length / 4u; i += 4u * step) {
    let a = max(abs(x[i]), abs(x[i + step]));
    found = max(found, max(a, max(abs(x[i + 2u * step]), abs(x[i + 3u * step]))));
  }
  for (; i < count; i += step) { found = max(found, abs(load(i))); }
  let peak = largest(max(max(found.x, found.y), max(found.z, found.w)), local);
  if (local == 0u) { new_peaks[group] = peak; }
}

// What values are multiplied by, from the workgroups' peaks; the first workgroup leaves the inverse in `scale`.
fn find_factor(group: u32, local: u32) -> f32 {
  var mine = 0.0;
  if (local < P.parts) { mine = peaks[local]; }
  let shift = shift_of(largest(mine, local));
  if (group == 0u && local == 0u) { scale[0] = bitcast<f32>(u32(127 - shift) << 23u); }
  return bitcast<f32>(u32(127 + shift) << 23u);
}

// ${ROUNDS} · 2,048 values per workgroup, here and below.
@compute @workgroup_size(256)
fn half_cast(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  let factor = find_factor(group, local);
  // @for r in ROUNDS
  {
    let i = (group * ${ROUNDS}u + ${r}u) * 256u + local;
    if (i * 8u < P.length) { values[i] = pack(load(2u * i) * factor, load(2u * i + 1u) * factor); }
  }
  // @end
}

// Four columns; their number is a multiple of 4.
fn load_place(row: u32, column: u32) -> vec4f {
  if (row >= P.rows || column >= P.columns) { return vec4f(); }
  return x[(row * P.columns + column) / 4u];
}

@compute @workgroup_size(256)
fn panels_cast(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  let factor = find_factor(group, local);
  // @for r in ROUNDS
  {
    let piece = (group * ${ROUNDS}u + ${r}u) * 256u + local;
    if (piece < P.pieces) {
      let at = place(piece);
      values[piece] = pack(load_place(at.x, at.y) * factor, load_place(at.x, at.y + 4u) * factor);
    }
  }
  // @end
}

// What the cast to f16 lost, at the scale of what it left.
fn lost(value: vec4f, factor: f32) -> vec4f {
  let scaled = value * factor;
  return scaled - vec4f(unpack2x16float(pack2x16float(scaled.xy)), unpack2x16float(pack2x16float(scaled.zw)));
}

@compute @workgroup_size(256)
fn panels_lost(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  // A power of two: its inverse is exact.
  let factor = 1.0 / scale_in[0];
  // @for r in ROUNDS
  {
    let piece = (group * ${ROUNDS}u + ${r}u) * 256u + local;
    if (piece < P.pieces) {
      let at = place(piece);
      lost_values[piece] = pack(lost(load_place(at.x, at.y), factor), lost(load_place(at.x, at.y + 4u), factor));
    }
  }
  // @end
}

// f16 in rows to panels, bit by bit; columns are a multiple of 8.
@compute @workgroup_size(256)
fn panels_copy(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  // @for r in ROUNDS
  {
    let piece = (group * ${ROUNDS}u + ${r}u) * 256u + local;
    if (piece < P.pieces) {
      let at = place(piece);
      var value = vec4u();
      if (at.x < P.rows && at.y < P.columns) { value = in_rows[(at.x * P.columns + at.y) / 8u]; }
      in_panels[piece] = value;
    }
  }
  // @end
}
