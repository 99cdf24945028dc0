// Rows of x, or of x times a norm's weights, to f16, each scaled by the power of two that brings its largest magnitude to
// [2^14, 2^15); rows past the last are 0. A norm's rstd goes into the scale. A workgroup has a row.
struct Params {
  base: u32,
  // Rows of x, and eights of values in a row.
  rows: u32, eights: u32,
  eps: f32,
  // Added to the norm's weights.
  offset: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> values: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> row_scale: array<f32>;
@group(0) @binding(4) var<storage, read> norm: array<vec4f>;

// Sums of squares, and largest magnitudes.
var<workgroup> found: array<vec2f, 256>;

fn plain(at: u32, i: u32) -> vec4f { return x[at + i]; }
fn weighed(at: u32, i: u32) -> vec4f { return x[at + i] * (norm[i] + P.offset); }

@compute @workgroup_size(256)
fn rows_half(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let r = group_number(P.base, workgroup, groups);
  let inside = r < P.rows;
  let at = 2u * min(r, P.rows - 1u) * P.eights;
  var own = vec2f();
  for (var i = local; i < 2u * P.eights; i += 256u) {
    let size = abs(${VALUE}(at, i));
    own.x += dot(x[at + i], x[at + i]);
    own.y = max(own.y, max(max(size.x, size.y), max(size.z, size.w)));
  }
  found[local] = own;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half /= 2u) {
    if (local < half) {
      let other = found[local + half];
      found[local] = vec2f(found[local].x + other.x, max(found[local].y, other.y));
    }
    workgroupBarrier();
  }
  let shift = shift_of(found[0].y);
  let factor = select(0.0, bitcast<f32>(u32(127 + shift) << 23u), inside);
  for (var i = local; i < P.eights; i += 256u) {
    values[r * P.eights + i] = pack(${VALUE}(at, 2u * i) * factor, ${VALUE}(at, 2u * i + 1u) * factor);
  }
  if (local == 0u) { row_scale[r] = ${RSTD} * bitcast<f32>(u32(127 - shift) << 23u); }
}
