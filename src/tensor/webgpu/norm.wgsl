// RMS normalisation over rows of `width` values (${TYPE}); a row a thread.
struct Params {
  base: u32,
  rows: u32, width: u32,
  // Rows a part, in rms_norm_weight.
  part: u32,
  eps: f32, inverse_size: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<${TYPE}>;
@group(0) @binding(2) var<storage, read> w: array<${TYPE}>;
@group(0) @binding(3) var<storage, read_write> y: array<${TYPE}>;
@group(0) @binding(4) var<storage, read_write> new_rstd: array<f32>;
// rms_norm_backward
@group(0) @binding(3) var<storage, read> dy: array<${TYPE}>;
@group(0) @binding(4) var<storage, read> rstd: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<${TYPE}>;
// rms_norm_weight
@group(0) @binding(2) var<storage, read> slope: array<${TYPE}>;
@group(0) @binding(3) var<storage, read> scale: array<f32>;
@group(0) @binding(4) var<storage, read_write> parts: array<${TYPE}>;

fn total(v: ${TYPE}) -> f32 { return ${TOTAL}; }

@compute @workgroup_size(64)
fn rms_norm(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let row = group_number(P.base, workgroup, groups) * 64u + local;
  if (row >= P.rows) { return; }
  let at = row * P.width;
  var squares = ${TYPE}();
  for (var i = 0u; i < P.width; i++) { squares += x[at + i] * x[at + i]; }
  let r = 1.0 / sqrt(total(squares) * P.inverse_size + P.eps);
  new_rstd[row] = r;
  for (var i = 0u; i < P.width; i++) { y[at + i] = x[at + i] * r * w[i]; }
}

// dx = rstd (dy w − x rstd² mean(dy w x))
@compute @workgroup_size(64)
fn rms_norm_backward(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let row = group_number(P.base, workgroup, groups) * 64u + local;
  if (row >= P.rows) { return; }
  let at = row * P.width;
  var products = ${TYPE}();
  for (var i = 0u; i < P.width; i++) { products += dy[at + i] * w[i] * x[at + i]; }
  let r = rstd[row];
  let along = total(products) * P.inverse_size * r * r;
  for (var i = 0u; i < P.width; i++) { dx[at + i] = r * (dy[at + i] * w[i] - x[at + i] * along); }
}

// parts[s, i] = Σ dy x rstd over the rows of part s
@compute @workgroup_size(64)
fn rms_norm_weight(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let first = thread / P.width * P.part;
  if (first >= P.rows) { return; }
  let column = thread % P.width;
  var sum = ${TYPE}();
  for (var row = first; row < min(first + P.part, P.rows); row++) {
    let at = row * P.width + column;
    sum += slope[at] * x[at] * scale[row];
  }
  parts[thread] = sum;
}
