// o = softmax(q · kᵀ / √D) · v over the keys of each query row's ranges, in one walk over the keys with a running
// maximum. A thread holds ${R} neighbouring query rows of one head, so that a key is loaded once for all of them; rows
// that do not see it give it no weight. Keys go by fours: one rescaling for each.
// Where there are few query rows, the keys are cut into parts with a result each, which attention_merge joins.
struct Params {
  base: u32,
  queries: u32, keys: u32, heads: u32, groups: u32,
  parts: u32, part: u32,
  scale: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> q: array<vec4f>;
@group(0) @binding(2) var<storage, read> k: array<vec4f>;
@group(0) @binding(3) var<storage, read> v: array<vec4f>;
// A query row each: (start, end) of its prefix's keys, and of its own.
@group(0) @binding(4) var<storage, read> ranges: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> lse: array<f32>;
// attention_merge
@group(0) @binding(1) var<storage, read> part_o: array<vec4f>;
@group(0) @binding(2) var<storage, read> part_lse: array<f32>;
@group(0) @binding(3) var<storage, read_write> whole_o: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> whole_lse: array<f32>;

const R = ${R}u;
// Vec4s a head.
const D4 = ${D4}u;
const LOWEST = -3.0e38;

@compute @workgroup_size(${GROUP})
fn attention_forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let tiles = (P.queries + R - 1u) / R;
  let head = thread / tiles % P.heads;
  let part = thread / (tiles * P.heads);
  if (part >= P.parts) { return; }
  let row = thread % tiles * R;
  let kv_head = head / (P.heads / P.groups);
  // @for r in R
  let t${r} = min(row + ${r}u, P.queries - 1u);
  let range${r} = ranges[t${r}];
  let at${r} = (t${r} * P.heads + head) * D4;
  var top${r} = LOWEST;
  var sum${r} = 0.0;
  // @for i in D4
  let q${r}_${i} = q[at${r} + ${i}u] * P.scale;
  var o${r}_${i} = vec4f();
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
    // Fours of keys are the same whatever other rows the thread has, and so are the bits of a row's results.
    first = max(first, part * P.part) / 4u * 4u;
    last = min(last, (part + 1u) * P.part);
    for (var j = first; j < last; j += 4u) {
      // Sums as single expressions: on a software adapter each assignment to a variable costs a masked store.
      // @for b in 4
      let key${b} = (min(j + ${b}u, last - 1u) * P.groups + kv_head) * D4;
      // @for i in D4
      let k${b}_${i} = k[key${b} + ${i}u];
      // @end
      // @for r in R
      let s${r}_${b} = 0.0
      // @for i in D4
        + dot(q${r}_${i}, k${b}_${i})
      // @end
      ;
      // @end
      // @end
      let js = vec4u(j, j + 1u, j + 2u, j + 3u);
      // @for r in R
      let seen${r} = (js >= vec4u(start${r})) & (js < vec4u(min(end${r}, last)));
      let s${r} = select(vec4f(LOWEST), vec4f(s${r}_0, s${r}_1, s${r}_2, s${r}_3), seen${r});
      let new_top${r} = max(top${r}, max(max(s${r}.x, s${r}.y), max(s${r}.z, s${r}.w)));
      let fade${r} = exp(top${r} - new_top${r});
      let p${r} = select(vec4f(), exp(s${r} - new_top${r}), seen${r});
      top${r} = new_top${r};
      sum${r} = sum${r} * fade${r} + dot(p${r}, vec4f(1.0));
      // @end
      // @for i in D4
      {
        // @for b in 4
        let v${b} = v[key${b} + ${i}u];
        // @end
        // @for r in R
        o${r}_${i} = o${r}_${i} * fade${r} + p${r}.x * v0 + p${r}.y * v1 + p${r}.z * v2 + p${r}.w * v3;
        // @end
      }
      // @end
    }
  }
  // @for r in R
  if (row + ${r}u < P.queries) {
    let to = part * P.queries * P.heads + t${r} * P.heads + head;
    // A part that the row sees nothing of gets no weight.
    let sum = max(sum${r}, 1e-30);
    // @for i in D4
    o[to * D4 + ${i}u] = o${r}_${i} / sum;
    // @end
    lse[to] = top${r} + log(sum);
  }
  // @end
}

// o = Σ_s exp(lse_s − lse) o_s over the parts s; a vec4 a thread.
@compute @workgroup_size(${GROUP})
fn attention_merge(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let pairs = P.queries * P.heads;
  let pair = thread / D4;
  if (pair >= pairs) { return; }
  var top = part_lse[pair];
  for (var s = 1u; s < P.parts; s++) { top = max(top, part_lse[s * pairs + pair]); }
  var sum = 0.0;
  var value = vec4f();
  for (var s = 0u; s < P.parts; s++) {
    let weight = exp(part_lse[s * pairs + pair] - top);
    sum += weight;
    value += weight * part_o[(s * pairs + pair) * D4 + thread % D4];
  }
  whole_o[thread] = value / sum;
  if (thread % D4 == 0u) { whole_lse[pair] = top + log(sum); }
}
