// Copies `width` columns of every row from one matrix into another; a value (${TYPE}) a thread.
struct Params {
  base: u32,
  count: u32, width: u32,
  // Row lengths, and the first column.
  from_row: u32, from_at: u32, to_row: u32, to_at: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<${TYPE}>;
@group(0) @binding(2) var<storage, read_write> y: array<${TYPE}>;

@compute @workgroup_size(64)
fn copy_columns(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  if (thread >= P.count) { return; }
  let row = thread / P.width;
  let column = thread % P.width;
  y[row * P.to_row + P.to_at + column] = x[row * P.from_row + P.from_at + column];
}
