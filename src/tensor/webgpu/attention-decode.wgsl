${SUBGROUPS}
// One token's attention to a long cache, as in decoding: rows are few, so that the keys of each are shared out among
// workgroups, ${KEYS} to each; ${TEAM} neighbouring threads share a key. What a workgroup finds is merged by `attention_decode_merge`.
struct Params {
  base: u32,
  rows: u32, heads: u32, groups: u32,
  // Parts of the keys of a row; those past its last key are left alone.
  parts: u32,
  scale: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> start: array<u32>;
@group(0) @binding(2) var<storage, read> end: array<u32>;
// attention_decode
@group(0) @binding(3) var<storage, read> q: array<vec4f>;
@group(0) @binding(4) var<storage, read> keys: array<${STORED}>;
@group(0) @binding(5) var<storage, read> values: array<${STORED}>;
@group(0) @binding(6) var<storage, read_write> part_o: array<vec4f>;
// Maximum of the scores, and the sum of their exponentials from it.
@group(0) @binding(7) var<storage, read_write> part_sums: array<vec2f>;
// attention_decode_merge
@group(0) @binding(3) var<storage, read> found_o: array<vec4f>;
@group(0) @binding(4) var<storage, read> found_sums: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> lse: array<f32>;

const KEYS = ${KEYS}u;
const D4 = ${D4}u;
const TEAM = ${TEAM}u;
// Query heads of a group of keys.
const SHARING = ${SHARING}u;
// Threads that add up values side by side, each its own keys.
const SLICES = KEYS / D4;
const LOWEST = -3.4e38;

var<workgroup> queries: array<vec4f, SHARING * D4>;
var<workgroup> scores: array<f32, SHARING * KEYS>;
var<workgroup> sums: array<vec4f, KEYS>;

// Four values of the cache.
fn loaded(stored: ${STORED}) -> vec4f { return ${LOAD}; }

@compute @workgroup_size(KEYS)
fn attention_decode(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let unit = group_number(P.base, workgroup, groups);
  let part = unit % P.parts;
  let group = unit / P.parts % P.groups;
  let row = unit / (P.parts * P.groups);
  let first = start[row] + part * KEYS;
  if (first >= end[row]) { return; }
  let count = min(KEYS, end[row] - first);
  for (var i = local; i < SHARING * D4; i += KEYS) {
    queries[i] = q[(row * P.heads + group * SHARING) * D4 + i];
  }
  workgroupBarrier();
  let lane = local % TEAM;
  for (var n = local / TEAM; n < KEYS; n += KEYS / TEAM) {
    let key = ((first + min(n, count - 1u)) * P.groups + group) * D4;
    // @for h in SHARING
    var score${h} = 0.0;
    // @end
    for (var i = lane; i < D4; i += TEAM) {
      let k = loaded(keys[key + i]);
      // @for h in SHARING
      score${h} += dot(k, queries[${h}u * D4 + i]);
      // @end
    }
    // @for s in HALVINGS
    // @for h in SHARING
    score${h} += subgroupShuffleXor(score${h}, 1u << ${s}u);
    // @end
    // @end
    // @for h in SHARING
    if (lane == 0u) { scores[${h}u * KEYS + n] = select(LOWEST, score${h} * P.scale, n < count); }
    // @end
  }
  workgroupBarrier();
  // @for h in SHARING
  {
    var top = LOWEST;
    for (var i = 0u; i < count; i++) { top = max(top, scores[${h}u * KEYS + i]); }
    let weight = select(0.0, exp(scores[${h}u * KEYS + local] - top), local < count);
    workgroupBarrier();
    scores[${h}u * KEYS + local] = weight;
    workgroupBarrier();
    let at = (row * P.heads + group * SHARING + ${h}u) * P.parts + part;
    if (local == 0u) {
      var sum = 0.0;
      for (var i = 0u; i < count; i++) { sum += scores[${h}u * KEYS + i]; }
      part_sums[at] = vec2f(top, sum);
    }
    let slice = local / D4;
    var total = vec4f();
    if (slice < SLICES) {
      for (var i = slice; i < count; i += SLICES) {
        total += scores[${h}u * KEYS + i] * loaded(values[((first + i) * P.groups + group) * D4 + local % D4]);
      }
    }
    sums[local] = total;
    workgroupBarrier();
    if (local < D4) {
      for (var s = 1u; s < SLICES; s++) { total += sums[s * D4 + local]; }
      part_o[at * D4 + local] = total;
    }
    workgroupBarrier();
  }
  // @end
}

// Four values of a head of a row per thread.
@compute @workgroup_size(64)
fn attention_decode_merge(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let pair = thread / D4;
  if (pair >= P.rows * P.heads) { return; }
  let row = pair / P.heads;
  let parts = (end[row] - start[row] + KEYS - 1u) / KEYS;
  var top = LOWEST;
  for (var p = 0u; p < parts; p++) { top = max(top, found_sums[pair * P.parts + p].x); }
  var total = vec4f();
  var sum = 0.0;
  for (var p = 0u; p < parts; p++) {
    let at = pair * P.parts + p;
    let weight = exp(found_sums[at].x - top);
    sum += weight * found_sums[at].y;
    total += weight * found_o[at * D4 + thread % D4];
  }
  o[thread] = total / sum;
  if (thread % D4 == 0u) { lse[pair] = top + log(sum); }
}
