// Rows picked, placed and added by index; a value (${TYPE}) a thread. Widths are in values of that type.
struct Params {
  base: u32,
  rows: u32, width: u32, accumulate: u32,
  // sum_rows: the rows of `sums` that are bound.
  first: u32, bound: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<${TYPE}>;
@group(0) @binding(2) var<storage, read> index: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<${TYPE}>;
// scatter_rows_half
@group(0) @binding(1) var<storage, read> fours: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> halves: array<vec2u>;
// sum_rows
@group(0) @binding(3) var<storage, read> offsets: array<u32>;
@group(0) @binding(4) var<storage, read> to: array<u32>;
@group(0) @binding(5) var<storage, read_write> sums: array<${TYPE}>;

// y[r] = x[index[r]]
@compute @workgroup_size(64)
fn gather_rows(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let r = thread / P.width;
  if (r < P.rows) { y[thread] = x[index[r] * P.width + thread % P.width]; }
}

// y[index[r]] = x[r]
@compute @workgroup_size(64)
fn scatter_rows(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let r = thread / P.width;
  if (r < P.rows) { y[index[r] * P.width + thread % P.width] = x[thread]; }
}

// The same into f16.
@compute @workgroup_size(64)
fn scatter_rows_half(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let r = thread / P.width;
  if (r >= P.rows) { return; }
  let four = fours[thread];
  halves[index[r] * P.width + thread % P.width] = vec2u(pack2x16float(four.xy), pack2x16float(four.zw));
}

// sums[to[r]] (+)= Σ x[index[p]], p from offsets[r] to offsets[r + 1] − 1, for the rows to[r] that are bound
@compute @workgroup_size(64)
fn sum_rows(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let r = thread / P.width;
  if (r >= P.rows || to[r] < P.first || to[r] - P.first >= P.bound) { return; }
  let column = thread % P.width;
  var sum = ${TYPE}();
  for (var p = offsets[r]; p < offsets[r + 1u]; p++) { sum += x[index[p] * P.width + column]; }
  let at = (to[r] - P.first) * P.width + column;
  if (P.accumulate == 1u) { sum += sums[at]; }
  sums[at] = sum;
}
