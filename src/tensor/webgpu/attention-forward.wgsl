// @for team in TEAMS
enable subgroups;
diagnostic(off, subgroup_uniformity);
// @end
// o = softmax(q · kᵀ / √D) · v over the keys of each query row's ranges, in one walk over the keys with a running
// maximum. A thread holds ${R} neighbouring query rows of one head, so that a key is loaded once for all of them; rows
// that do not see it give it no weight. Keys go by fours: one rescaling for each. Where a shuffle is cheaper than a load,
// four neighbouring threads are a team: each loads one key of the four, and shows it to the others.
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
// Threads of a team.
const MEMBERS = ${MEMBERS}u;
// @for team in TEAMS
// @for m in MEMBERS
fn member${m}(value: vec4f) -> vec4f { return quadBroadcast(value, ${m}u); }
// @end
fn smallest(value: u32) -> u32 {
  let pair = min(value, quadSwapX(value));
  return min(pair, quadSwapY(pair));
}
fn largest(value: u32) -> u32 {
  let pair = max(value, quadSwapX(value));
  return max(pair, quadSwapY(pair));
}
// @end
// @for alone in ALONE
fn member0(value: vec4f) -> vec4f { return value; }
fn smallest(value: u32) -> u32 { return value; }
fn largest(value: u32) -> u32 { return value; }
// @end

@compute @workgroup_size(${GROUP})
fn attention_forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  // All members of a team have rows of one head.
  let tiles = (P.queries + R * MEMBERS - 1u) / (R * MEMBERS) * MEMBERS;
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
    first = max(smallest(first), part * P.part) / 4u * 4u;
    last = min(largest(last), (part + 1u) * P.part);
    for (var j = first; j < last; j += 4u) {
      // Sums as single expressions: on a software adapter each assignment to a variable costs a masked store.
      // @for c in LOADS
      let key${c} = (min(j + ${c}u * MEMBERS + local % MEMBERS, last - 1u) * P.groups + kv_head) * D4;
      // @for i in D4
      let k${c}_${i} = k[key${c} + ${i}u];
      // @end
      // @for m in MEMBERS
      // @for r in R
      let s${r}_${c}_${m} = 0.0
      // @for i in D4
        + dot(q${r}_${i}, member${m}(k${c}_${i}))
      // @end
      ;
      // @end
      // @end
      // @end
      let js = vec4u(j, j + 1u, j + 2u, j + 3u);
      // @for r in R
      let seen${r} = (js >= vec4u(start${r})) & (js < vec4u(min(end${r}, last)));
      let s${r} = select(
        vec4f(LOWEST),
        vec4f(
          // @for c in LOADS
          // @for m in MEMBERS
          s${r}_${c}_${m},
          // @end
          // @end
        ),
        seen${r},
      );
      let new_top${r} = max(top${r}, max(max(s${r}.x, s${r}.y), max(s${r}.z, s${r}.w)));
      let fade${r} = exp(top${r} - new_top${r});
      let p${r} = select(vec4f(), exp(s${r} - new_top${r}), seen${r});
      top${r} = new_top${r};
      sum${r} = sum${r} * fade${r} + dot(p${r}, vec4f(1.0));
      // @end
      // @for i in D4
      {
        // @for c in LOADS
        let v${c} = v[key${c} + ${i}u];
        // @end
        // @for r in R
        o${r}_${i} = o${r}_${i} * fade${r}
        // @for c in LOADS
        // @for m in MEMBERS
          + p${r}[${c}u * MEMBERS + ${m}u] * member${m}(v${c})
        // @end
        // @end
        ;
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
