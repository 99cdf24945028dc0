// The parts of linear-rows-matrix.wgsl, added up and scaled: y[m, n] = row_scale[m] · scale_j · Σ_s parts[s, m, n] for columns
// n of weight j, or, with a pair of weights, silu of the first one's times the second one's. Four columns to a thread.
struct Params {
  base: u32,
  // Parts and their rows, which are padded.
  parts: u32, padded: u32,
  // Rows of y, and vec4s of a row of y and of a part.
  rows: u32, row: u32, columns: u32,
  // @for j in JOINED
  // First vec4 of the weight.
  first${j}: u32,
  // @end
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> parts: array<vec4f>;
@group(0) @binding(2) var<storage, read> row_scale: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
// @for j in JOINED
@group(0) @binding(4 + ${j}) var<storage, read> scale${j}: array<f32>;
// @end

fn sum(m: u32, n: u32) -> vec4f {
  var total = vec4f();
  for (var s = 0u; s < P.parts; s++) { total += parts[(s * P.padded + m) * P.columns + n]; }
  var scale = 0.0;
  // @for j in JOINED
  if (n >= P.first${j}) { scale = scale${j}[0]; }
  // @end
  return row_scale[m] * scale * total;
}

@compute @workgroup_size(64)
fn linear_rows_sum(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let m = thread / P.row;
  let n = thread % P.row;
  if (m >= P.rows) { return; }
  let total0 = sum(m, n);
  // @for once in PAIRED
  let total1 = sum(m, n + P.row);
  // @end
  y[thread] = ${RESULT};
}
