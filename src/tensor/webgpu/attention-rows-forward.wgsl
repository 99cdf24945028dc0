// o = softmax(q · kᵀ / √D) · v in f32, for small heads: a thread holds HELD query rows of one token and walks the keys
// that it sees, which a workgroup of 64 tokens loads into workgroup memory 32 at a time. No thread needs what another
// one finds, all read the same key at the same time, and each loaded value serves HELD products.
struct Params {
  base: u32,
  queries: u32, keys: u32, heads: u32, groups: u32,
  // Parts that the keys are cut into, and keys a part.
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

// Vec4s a head, and heads a thread.
const D4 = ${D4}u;
const HELD = ${HELD}u;
const THREADS = 64u;
const SIDE = 32u;
const LOWEST = -3.0e38;

var<workgroup> tile_k: array<vec4f, SIDE * D4>;
var<workgroup> tile_v: array<vec4f, SIDE * D4>;
// The least and the greatest key of each range that any of the tokens sees.
var<workgroup> bounds: array<atomic<u32>, 4>;
var<workgroup> span: vec4u;

@compute @workgroup_size(64)
fn attention_rows_forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let number = group_number(P.base, workgroup, groups);
  let blocks = (P.queries + THREADS - 1u) / THREADS;
  let sets = P.heads / HELD;
  let head0 = number % sets * HELD;
  let part = number / (sets * blocks);
  if (part >= P.parts) { return; }
  let kv_head = head0 / (P.heads / P.groups);
  // The last blocks of a causal pack see the most keys, and go first.
  let row = (blocks - 1u - number / sets % blocks) * THREADS + local;
  var range = vec4u();
  if (row < P.queries) { range = min(ranges[row], vec4u(P.keys)); }

  if (local < 4u) { atomicStore(&bounds[local], select(0xffffffffu, 0u, local % 2u == 1u)); }
  workgroupBarrier();
  if (range.x < range.y) {
    atomicMin(&bounds[0], range.x);
    atomicMax(&bounds[1], range.y);
  }
  if (range.z < range.w) {
    atomicMin(&bounds[2], range.z);
    atomicMax(&bounds[3], range.w);
  }
  workgroupBarrier();
  if (local == 0u) {
    span = vec4u(atomicLoad(&bounds[0]), atomicLoad(&bounds[1]), atomicLoad(&bounds[2]), atomicLoad(&bounds[3]));
  }
  let walk = workgroupUniformLoad(&span);

  let q0 = (min(row, P.queries - 1u) * P.heads + head0) * D4;
  // @for h in HELD
  var top${h} = LOWEST;
  var sum${h} = 0.0;
  // @for i in D4
  let q${h}_${i} = q[q0 + ${h}u * D4 + ${i}u] * P.scale;
  var o${h}_${i} = vec4f();
  // @end
  // @end

  for (var piece = 0u; piece < 2u; piece++) {
    let own = piece == 1u;
    let first = max(select(walk.x, walk.z, own), part * P.part);
    let last = min(select(walk.y, walk.w, own), (part + 1u) * P.part);
    let start = select(range.x, range.z, own);
    let end = min(select(range.y, range.w, own), last);
    for (var j = first; j < last; j += SIDE) {
      workgroupBarrier();
      for (var i = local; i < SIDE * D4; i += THREADS) {
        let at = (min(j + i / D4, P.keys - 1u) * P.groups + kv_head) * D4 + i % D4;
        tile_k[i] = k[at];
        tile_v[i] = v[at];
      }
      workgroupBarrier();
      let low = max(start, j);
      let high = min(end, j + SIDE);
      // None where the thread sees nothing of the tile: low is then past high.
      for (var b = select(SIDE, (low - j) / 4u * 4u, low < high); b + j < high; b += 4u) {
        // @for c in 4
        let seen${c} = j + b + ${c}u >= low && j + b + ${c}u < high;
        // @for h in HELD
        var s${h}_${c} = vec4f();
        // @end
        // @for i in D4
        {
          let e = tile_k[(b + ${c}u) * D4 + ${i}u];
          // @for h in HELD
          s${h}_${c} += q${h}_${i} * e;
          // @end
        }
        // @end
        // @end
        let seen = vec4<bool>(seen0, seen1, seen2, seen3);
        // @for h in HELD
        let t${h} = select(
          vec4f(LOWEST),
          vec4f(dot(s${h}_0, vec4f(1.0)), dot(s${h}_1, vec4f(1.0)), dot(s${h}_2, vec4f(1.0)), dot(s${h}_3, vec4f(1.0))),
          seen,
        );
        let new_top${h} = max(top${h}, max(max(t${h}.x, t${h}.y), max(t${h}.z, t${h}.w)));
        if (new_top${h} > top${h}) {
          let fade = exp(top${h} - new_top${h});
          top${h} = new_top${h};
          sum${h} *= fade;
          // @for i in D4
          o${h}_${i} *= fade;
          // @end
        }
        let p${h} = select(vec4f(), exp(t${h} - top${h}), seen);
        sum${h} += dot(p${h}, vec4f(1.0));
        // @end
        // @for i in D4
        {
          let at = b * D4 + ${i}u;
          let e0 = tile_v[at];
          let e1 = tile_v[at + D4];
          let e2 = tile_v[at + 2u * D4];
          let e3 = tile_v[at + 3u * D4];
          // @for h in HELD
          o${h}_${i} += p${h}.x * e0 + p${h}.y * e1 + p${h}.z * e2 + p${h}.w * e3;
          // @end
        }
        // @end
      }
    }
  }

  if (row >= P.queries) { return; }
  // @for h in HELD
  {
    let to = (part * P.queries + row) * P.heads + head0 + ${h}u;
    // A part that the row sees nothing of gets no weight.
    let sum = max(sum${h}, 1e-30);
    // @for i in D4
    o[to * D4 + ${i}u] = o${h}_${i} / sum;
    // @end
    lse[to] = top${h} + log(sum);
  }
  // @end
}
