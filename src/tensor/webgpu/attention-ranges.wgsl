// The ranges of keys that each query row sees, in one array, so that the kernels need one binding for them.
struct Params {
  base: u32,
  queries: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read_write> ranges: array<vec4u>;
@group(0) @binding(2) var<storage, read> start: array<u32>;
@group(0) @binding(3) var<storage, read> end: array<u32>;
// @for i in PREFIX
@group(0) @binding(4) var<storage, read> prefix_start: array<u32>;
@group(0) @binding(5) var<storage, read> prefix_end: array<u32>;
// @end

@compute @workgroup_size(${GROUP})
fn attention_ranges(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  if (i >= P.queries) { return; }
  var range = vec4u(0u, 0u, start[i], end[i]);
  // @for i in PREFIX
  range.x = prefix_start[i];
  range.y = prefix_end[i];
  // @end
  ranges[i] = range;
}
