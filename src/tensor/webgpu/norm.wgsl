// RMS normalisation over rows of `width` values (${TYPE}), each by LANES threads side by side.
struct Params {
  base: u32,
  rows: u32, width: u32,
  // Rows a part, in rms_norm_weight.
  part: u32,
  // rms_norm_rope: heads of a token; pairs (i, i + half) turn, the rest of a head stays.
  heads: u32, half: u32,
  eps: f32, inverse_size: f32,
  // Added to the weights.
  offset: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<${TYPE}>;
@group(0) @binding(2) var<storage, read> w: array<${TYPE}>;
@group(0) @binding(3) var<storage, read_write> y: array<${TYPE}>;
@group(0) @binding(4) var<storage, read_write> new_rstd: array<f32>;
// add_rms_norm
@group(0) @binding(5) var<storage, read> more: array<${TYPE}>;
@group(0) @binding(6) var<storage, read_write> sum: array<${TYPE}>;
// rms_norm_rope
@group(0) @binding(5) var<storage, read> cosines: array<${TYPE}>;
@group(0) @binding(6) var<storage, read> sines: array<${TYPE}>;
@group(0) @binding(7) var<storage, read> positions: array<u32>;
// rms_norm_backward
@group(0) @binding(3) var<storage, read> dy: array<${TYPE}>;
@group(0) @binding(4) var<storage, read> rstd: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<${TYPE}>;
// rms_norm_backward_add
@group(0) @binding(6) var<storage, read> plus: array<${TYPE}>;
// rms_norm_weight
@group(0) @binding(2) var<storage, read> slope: array<${TYPE}>;
@group(0) @binding(3) var<storage, read> scale: array<f32>;
@group(0) @binding(4) var<storage, read_write> parts: array<${TYPE}>;

const LANES = ${LANES}u;
const GROUP = ${GROUP}u;
var<workgroup> lane_sums: array<f32, GROUP>;

fn weight(i: u32) -> ${TYPE} { return w[i] + P.offset; }

fn total(v: ${TYPE}) -> f32 { return ${TOTAL}; }

// The sum over the row's threads of what each of them gives.
fn row_total(value: f32, local: u32) -> f32 {
  if (LANES == 1u) { return value; }
  lane_sums[local] = value;
  workgroupBarrier();
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    if (local % LANES < step) { lane_sums[local] += lane_sums[local + step]; }
    workgroupBarrier();
  }
  return lane_sums[local - local % LANES];
}

@compute @workgroup_size(GROUP)
fn rms_norm(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * GROUP + local;
  let row = thread / LANES;
  let lane = thread % LANES;
  let at = row * P.width;
  var squares = ${TYPE}();
  if (row < P.rows) {
    for (var i = lane; i < P.width; i += LANES) { squares += x[at + i] * x[at + i]; }
  }
  let r = 1.0 / sqrt(row_total(total(squares), local) * P.inverse_size + P.eps);
  if (row >= P.rows) { return; }
  if (lane == 0u) { new_rstd[row] = r; }
  for (var i = lane; i < P.width; i += LANES) { y[at + i] = x[at + i] * r * weight(i); }
}

// sum = x + more, and its norm.
@compute @workgroup_size(GROUP)
fn add_rms_norm(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * GROUP + local;
  let row = thread / LANES;
  let lane = thread % LANES;
  let at = row * P.width;
  var squares = ${TYPE}();
  if (row < P.rows) {
    for (var i = lane; i < P.width; i += LANES) {
      let s = x[at + i] + more[at + i];
      sum[at + i] = s;
      squares += s * s;
    }
  }
  let r = 1.0 / sqrt(row_total(total(squares), local) * P.inverse_size + P.eps);
  if (row >= P.rows) { return; }
  if (lane == 0u) { new_rstd[row] = r; }
  for (var i = lane; i < P.width; i += LANES) { y[at + i] = sum[at + i] * r * weight(i); }
}

// The norm of every head, turned by the angles of its token's position.
@compute @workgroup_size(GROUP)
fn rms_norm_rope(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * GROUP + local;
  let row = thread / LANES;
  let lane = thread % LANES;
  let at = row * P.width;
  var squares = ${TYPE}();
  if (row < P.rows) {
    for (var i = lane; i < P.width; i += LANES) { squares += x[at + i] * x[at + i]; }
  }
  let r = 1.0 / sqrt(row_total(total(squares), local) * P.inverse_size + P.eps);
  if (row >= P.rows) { return; }
  if (lane == 0u) { new_rstd[row] = r; }
  let half = P.half;
  let angle = positions[row / P.heads] * half;
  for (var i = lane; i < half; i += LANES) {
    let c = cosines[angle + i];
    let s = sines[angle + i];
    let a = x[at + i] * r * weight(i);
    let b = x[at + half + i] * r * weight(half + i);
    y[at + i] = a * c - b * s;
    y[at + half + i] = b * c + a * s;
  }
  for (var i = 2u * half + lane; i < P.width; i += LANES) { y[at + i] = x[at + i] * r * weight(i); }
}

// rstd² mean(dy w x) of a row
fn along(row: u32, lane: u32, local: u32) -> f32 {
  let at = row * P.width;
  var products = ${TYPE}();
  var r = 0.0;
  if (row < P.rows) {
    r = rstd[row];
    for (var i = lane; i < P.width; i += LANES) { products += dy[at + i] * weight(i) * x[at + i]; }
  }
  return row_total(total(products), local) * P.inverse_size * r * r;
}

// dx = rstd (dy w − x rstd² mean(dy w x)), where w is with its offset
@compute @workgroup_size(GROUP)
fn rms_norm_backward(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * GROUP + local;
  let row = thread / LANES;
  let factor = along(row, thread % LANES, local);
  if (row >= P.rows) { return; }
  let r = rstd[row];
  let at = row * P.width;
  for (var i = thread % LANES; i < P.width; i += LANES) {
    dx[at + i] = r * (dy[at + i] * weight(i) - x[at + i] * factor);
  }
}

// The same and what comes past the norm: dx + plus
@compute @workgroup_size(GROUP)
fn rms_norm_backward_add(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * GROUP + local;
  let row = thread / LANES;
  let factor = along(row, thread % LANES, local);
  if (row >= P.rows) { return; }
  let r = rstd[row];
  let at = row * P.width;
  for (var i = thread % LANES; i < P.width; i += LANES) {
    dx[at + i] = r * (dy[at + i] * weight(i) - x[at + i] * factor) + plus[at + i];
  }
}

// parts[s, i] = Σ dy x rstd over the rows of part s
@compute @workgroup_size(GROUP)
fn rms_norm_weight(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * GROUP + local;
  let first = thread / P.width * P.part;
  if (first >= P.rows) { return; }
  let column = thread % P.width;
  var sum_of_part = ${TYPE}();
  for (var row = first; row < min(first + P.part, P.rows); row++) {
    let at = row * P.width + column;
    sum_of_part += slope[at] * x[at] * scale[row];
  }
  parts[thread] = sum_of_part;
}
