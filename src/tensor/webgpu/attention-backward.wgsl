// The gradients of attention, with p = exp(score − lse), D = rowsum(dO ∘ O), dS = p (dO · V − D):
// dV = pᵀ dO, dQ = dS K / √D, dK = dSᵀ Q / √D. No two threads write one value, so no atomics are needed.
struct Params {
  base: u32,
  queries: u32, keys: u32, heads: u32, groups: u32,
  scale: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> q: array<vec4f>;
@group(0) @binding(2) var<storage, read> k: array<vec4f>;
@group(0) @binding(3) var<storage, read> v: array<vec4f>;
@group(0) @binding(4) var<storage, read> dout: array<vec4f>;
// A query row and head each: (lse, D).
@group(0) @binding(5) var<storage, read> stats: array<vec2f>;
// attention_stats
@group(0) @binding(1) var<storage, read> o: array<vec4f>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read_write> new_stats: array<vec2f>;
// attention_dq
// A query row each: (start, end) of its prefix's keys, and of its own.
@group(0) @binding(6) var<storage, read> ranges: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> dq: array<vec4f>;
// attention_dkv
@group(0) @binding(6) var<storage, read> query_end: array<u32>;
@group(0) @binding(7) var<storage, read_write> dk: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> dv: array<vec4f>;

// Query rows (attention_dq) or key rows (attention_dkv) a thread, and vec4s a head.
const R = ${R}u;
const D4 = ${D4}u;

@compute @workgroup_size(${GROUP})
fn attention_stats(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let i = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  if (i >= P.queries * P.heads) { return; }
  var sum = 0.0;
  for (var c = i * D4; c < (i + 1u) * D4; c++) { sum += dot(dout[c], o[c]); }
  new_stats[i] = vec2f(lse[i], sum);
}

@compute @workgroup_size(${GROUP})
fn attention_dq(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let tiles = (P.queries + R - 1u) / R;
  let head = thread / tiles;
  if (head >= P.heads) { return; }
  let row = thread % tiles * R;
  let kv_head = head / (P.heads / P.groups);
  // @for r in R
  let t${r} = min(row + ${r}u, P.queries - 1u);
  let range${r} = ranges[t${r}];
  let at${r} = (t${r} * P.heads + head) * D4;
  let stat${r} = stats[t${r} * P.heads + head];
  // @for i in D4
  let q${r}_${i} = q[at${r} + ${i}u] * P.scale;
  let do${r}_${i} = dout[at${r} + ${i}u];
  var dq${r}_${i} = vec4f();
  // @end
  // @end
  for (var piece = 0u; piece < 2u; piece++) {
    var first = P.keys;
    var last = 0u;
    // @for r in R
    let start${r} = select(range${r}.x, range${r}.z, piece == 1u);
    let end${r} = min(select(range${r}.y, range${r}.w, piece == 1u), P.keys);
    first = select(first, min(first, start${r}), start${r} < end${r});
    last = select(last, max(last, end${r}), start${r} < end${r});
    // @end
    for (var j = first; j < last; j++) {
      let key = (j * P.groups + kv_head) * D4;
      // Sums as single expressions: on a software adapter each assignment to a variable costs a masked store.
      // @for i in D4
      let k${i} = k[key + ${i}u];
      let v${i} = v[key + ${i}u];
      // @end
      // @for r in R
      let s${r} = 0.0
      // @for i in D4
        + dot(q${r}_${i}, k${i})
      // @end
      ;
      let dp${r} = 0.0
      // @for i in D4
        + dot(do${r}_${i}, v${i})
      // @end
      ;
      // @end
      // @for r in R
      let p${r} = select(0.0, exp(s${r} - stat${r}.x), j >= start${r} && j < end${r});
      let ds${r} = p${r} * (dp${r} - stat${r}.y);
      // @for i in D4
      dq${r}_${i} += ds${r} * k${i};
      // @end
      // @end
    }
  }
  // @for r in R
  if (row + ${r}u < P.queries) {
    // @for i in D4
    dq[at${r} + ${i}u] = dq${r}_${i} * P.scale;
    // @end
  }
  // @end
}

@compute @workgroup_size(${GROUP})
fn attention_dkv(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let tiles = (P.keys + R - 1u) / R;
  let kv_head = thread / tiles;
  if (kv_head >= P.groups) { return; }
  let row = thread % tiles * R;
  let heads_a_group = P.heads / P.groups;
  var last = 0u;
  // @for r in R
  let j${r} = min(row + ${r}u, P.keys - 1u);
  let end${r} = min(query_end[j${r}], P.queries);
  last = max(last, end${r});
  let at${r} = (j${r} * P.groups + kv_head) * D4;
  // @for i in D4
  let k${r}_${i} = k[at${r} + ${i}u] * P.scale;
  let v${r}_${i} = v[at${r} + ${i}u];
  var dk${r}_${i} = vec4f();
  var dv${r}_${i} = vec4f();
  // @end
  // @end
  for (var head = kv_head * heads_a_group; head < (kv_head + 1u) * heads_a_group; head++) {
    for (var t = j0; t < last; t++) {
      let stat = stats[t * P.heads + head];
      let query = (t * P.heads + head) * D4;
      // @for i in D4
      let q${i} = q[query + ${i}u];
      let do${i} = dout[query + ${i}u];
      // @end
      // @for r in R
      let s${r} = 0.0
      // @for i in D4
        + dot(q${i}, k${r}_${i})
      // @end
      ;
      let dp${r} = 0.0
      // @for i in D4
        + dot(do${i}, v${r}_${i})
      // @end
      ;
      // @end
      // @for r in R
      let p${r} = select(0.0, exp(s${r} - stat.x), t >= j${r} && t < end${r});
      let ds${r} = p${r} * (dp${r} - stat.y);
      // @for i in D4
      dv${r}_${i} += p${r} * do${i};
      dk${r}_${i} += ds${r} * q${i};
      // @end
      // @end
    }
  }
  // @for r in R
  if (row + ${r}u < P.keys) {
    // @for i in D4
    dk[at${r} + ${i}u] = dk${r}_${i} * P.scale;
    dv[at${r} + ${i}u] = dv${r}_${i};
    // @end
  }
  // @end
}
