// Weights of any format (weight-formats.wgsl) as f32, all rows or rows picked by index; a ${TYPE} a thread.
struct Params {
  base: u32,
  // Rows of y, the first row that is bound, and the number of bound rows of the weight.
  rows: u32, first: u32, bound: u32,
  // Values a row.
  width: u32,
  // Of int8 and int4: values per group, words per block and words per row.
  group: u32, block: u32, row_words: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<${TYPE}>;
// gather_weights
@group(0) @binding(2) var<storage, read> index: array<u32>;
@group(0) @binding(3) var<storage, read_write> picked: array<${TYPE}>;

@compute @workgroup_size(64)
fn expand_weights(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let columns = P.width / ${PER}u;
  let r = thread / columns;
  if (r < P.rows) { y[thread] = ${VALUES}_${FORMAT}(r, thread % columns * ${PER}u); }
}

// picked[r] = row index[r] of the weight, where it is bound.
@compute @workgroup_size(64)
fn gather_weights(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let columns = P.width / ${PER}u;
  let r = thread / columns;
  if (r >= P.rows) { return; }
  let row = index[r] - P.first;
  if (index[r] >= P.first && row < P.bound) { picked[thread] = ${VALUES}_${FORMAT}(row, thread % columns * ${PER}u); }
}
