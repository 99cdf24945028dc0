// What the matrix kernels of attention need to know before they start: for each block of ${ROWS} rows the union of its rows'
// ranges (of keys for blocks of queries, of queries for blocks of keys), after the factors that turn products of f16
// operands into values, since only the device knows the operands' scales.
struct Params {
  base: u32,
  rows: u32, limit: u32, blocks: u32,
  // 1/√D.
  scale: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read_write> plan: array<vec4u>;
// attention_plan_queries: (start, end) of its prefix's keys, and of its own; attention_plan_keys: end of its queries.
@group(0) @binding(2) var<storage, read> ranges: array<vec4u>;
@group(0) @binding(2) var<storage, read> query_end: array<u32>;
@group(0) @binding(3) var<storage, read> q_scale: array<f32>;
@group(0) @binding(4) var<storage, read> k_scale: array<f32>;
@group(0) @binding(5) var<storage, read> v_scale: array<f32>;
@group(0) @binding(6) var<storage, read> dout_scale: array<f32>;

const LOG2_E = 1.4426950408889634;
const ROWS = ${ROWS}u;
// See the constant of that name in attention-matrix-dq.wgsl.
const SLOPE = 1.0 / (65536.0 * ${D}.0);

fn write_factors() {
  let score = q_scale[0] * k_scale[0] * P.scale;
  // @for z in BACKWARD
  let slope = dout_scale[0] * v_scale[0] * P.scale / SLOPE;
  let mean = 1.0 / dout_scale[0] / v_scale[0];
  plan[0] = bitcast<vec4u>(vec4f(score * LOG2_E, mean, slope * k_scale[0], 0.0));
  plan[1] = bitcast<vec4u>(vec4f(slope * q_scale[0], dout_scale[0], 0.0, 0.0));
  // @end
  // @for z in FORWARD
  plan[0] = bitcast<vec4u>(vec4f(score * LOG2_E, v_scale[0], 0.0, 0.0));
  // @end
}

@compute @workgroup_size(64)
fn attention_plan_queries(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let block = group_number(P.base, workgroup, groups) * 64u + local;
  if (block == 0u) { write_factors(); }
  if (block >= P.blocks) { return; }
  let row0 = min(block * ROWS, P.rows - ROWS);
  var span = vec4u(P.limit, 0u, P.limit, 0u);
  for (var row = row0; row < row0 + ROWS; row++) {
    let range = min(ranges[row], vec4u(P.limit));
    if (range.x < range.y) { span = vec4u(min(span.x, range.x), max(span.y, range.y), span.zw); }
    if (range.z < range.w) { span = vec4u(span.xy, min(span.z, range.z), max(span.w, range.w)); }
  }
  plan[2u + block] = span;
}

@compute @workgroup_size(64)
fn attention_plan_keys(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let block = group_number(P.base, workgroup, groups) * 64u + local;
  if (block == 0u) { write_factors(); }
  if (block >= P.blocks) { return; }
  let row0 = min(block * ROWS, P.rows - ROWS);
  var last = 0u;
  for (var row = row0; row < row0 + ROWS; row++) { last = max(last, min(query_end[row], P.limit)); }
  plan[2u + block] = vec4u(row0, last, 0u, 0u);
}
