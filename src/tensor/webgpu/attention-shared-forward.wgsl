// o = softmax(q · kᵀ / √D) · v through tiles in workgroup memory, in f32: a workgroup holds 32 query rows of one head and
// walks the keys that any of them sees, 32 at a time, with a running maximum. See attention-shared-backward.wgsl.
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

// Vec4s a head, and chunks of eight of them.
const D4 = ${D4}u;
const CHUNKS = ${CHUNKS}u;
const SIDE = 32u;
const ROW = 9u;
const LOWEST = -3.0e38;

// A chunk of the queries, and of the keys and then the values.
var<workgroup> held: array<vec4f, SIDE * ROW>;
var<workgroup> walked: array<vec4f, SIDE * ROW>;
// exp(score − maximum), a query row each.
var<workgroup> weights: array<vec4f, SIDE * ROW>;
// What the eight threads of a row found, two vec4s a row.
var<workgroup> found: array<f32, SIDE * 8u>;
var<workgroup> row_ranges: array<vec4u, SIDE>;
var<workgroup> span: vec4u;

// Row x + 8 c of a tile of keys holds row 4 x + c of what is walked.
fn walked_row(r: u32) -> u32 { return r % 8u * 4u + r / 8u; }

fn load_held(chunk: u32, row: u32, head: u32, local: u32) {
  for (var i = local; i < SIDE * 8u; i += 64u) {
    let c = chunk * 8u + i % 8u;
    let at = (min(row + i / 8u, P.queries - 1u) * P.heads + head) * D4 + c;
    held[i / 8u * ROW + i % 8u] = select(vec4f(), q[at], c < D4);
  }
}

@compute @workgroup_size(64)
fn attention_shared_forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let number = group_number(P.base, workgroup, groups);
  let blocks = (P.queries + SIDE - 1u) / SIDE;
  let head = number % P.heads;
  let part = number / (P.heads * blocks);
  if (part >= P.parts) { return; }
  let kv_head = head / (P.heads / P.groups);
  // The last blocks of a causal pack see the most keys, and go first.
  let row0 = (blocks - 1u - number / P.heads % blocks) * SIDE;
  if (local < SIDE) { row_ranges[local] = min(ranges[min(row0 + local, P.queries - 1u)], vec4u(P.keys)); }
  workgroupBarrier();
  if (local == 0u) {
    var all = vec4u(0xffffffffu, 0u, 0xffffffffu, 0u);
    for (var i = 0u; i < SIDE; i++) {
      let range = row_ranges[i];
      if (range.x < range.y) { all = vec4u(min(all.x, range.x), max(all.y, range.y), all.zw); }
      if (range.z < range.w) { all = vec4u(all.xy, min(all.z, range.z), max(all.w, range.w)); }
    }
    span = all;
  }
  let walk = workgroupUniformLoad(&span);

  let x = local % 8u;
  let y = local / 8u;
  // @for r in 4
  let range${r} = row_ranges[y * 4u + ${r}u];
  var top${r} = LOWEST;
  // Of this thread's columns alone, until the end.
  var sum${r} = 0.0;
  // @for n in CHUNKS
  var o${r}_${n} = vec4f();
  // @end
  // @end
  // @for z in ONE_CHUNK
  load_held(0u, row0, head, local);
  // @end

  for (var piece = 0u; piece < 2u; piece++) {
    let own = piece == 1u;
    let first = max(select(walk.x, walk.z, own), part * P.part);
    let last = min(select(walk.y, walk.w, own), (part + 1u) * P.part);
    for (var j = first; j < last; j += SIDE) {
      // @for r in 4
      // @for c in 4
      var s${r}_${c} = 0.0;
      // @end
      // @end
      for (var chunk = 0u; chunk < CHUNKS; chunk++) {
        workgroupBarrier();
        // @for z in MANY_CHUNKS
        load_held(chunk, row0, head, local);
        // @end
        for (var i = local; i < SIDE * 8u; i += 64u) {
          let c = chunk * 8u + i % 8u;
          let at = (min(j + walked_row(i / 8u), P.keys - 1u) * P.groups + kv_head) * D4 + c;
          walked[i / 8u * ROW + i % 8u] = select(vec4f(), k[at], c < D4);
        }
        workgroupBarrier();
        for (var i = 0u; i < 8u; i++) {
          // @for r in 4
          let a${r} = held[(y * 4u + ${r}u) * ROW + i];
          // @end
          // @for c in 4
          {
            let e = walked[(x + ${c}u * 8u) * ROW + i];
            // @for r in 4
            s${r}_${c} += dot(a${r}, e);
            // @end
          }
          // @end
        }
      }
      let columns = vec4u(j + x * 4u) + vec4u(0u, 1u, 2u, 3u);
      // @for r in 4
      let seen${r} = (columns >= vec4u(select(range${r}.x, range${r}.z, own)))
        & (columns < vec4u(min(select(range${r}.y, range${r}.w, own), last)));
      let t${r} = select(vec4f(LOWEST), vec4f(s${r}_0, s${r}_1, s${r}_2, s${r}_3) * P.scale, seen${r});
      found[(y * 4u + ${r}u) * 8u + x] = max(max(t${r}.x, t${r}.y), max(t${r}.z, t${r}.w));
      // @end
      workgroupBarrier();
      // @for r in 4
      {
        var new_top = top${r};
        for (var i = 0u; i < 8u; i++) { new_top = max(new_top, found[(y * 4u + ${r}u) * 8u + i]); }
        let fade = exp(top${r} - new_top);
        let p = select(vec4f(), exp(t${r} - new_top), seen${r});
        top${r} = new_top;
        sum${r} = sum${r} * fade + dot(p, vec4f(1.0));
        weights[(y * 4u + ${r}u) * ROW + x] = p;
        // @for n in CHUNKS
        o${r}_${n} *= fade;
        // @end
      }
      // @end
      // @for n in CHUNKS
      // The tile is free: all scores were taken before the barrier above, and those of the chunk before by the next one.
      // @for y in MANY_CHUNKS
      workgroupBarrier();
      // @end
      for (var i = local; i < SIDE * 8u; i += 64u) {
        let c = ${n}u * 8u + i % 8u;
        let at = (min(j + walked_row(i / 8u), P.keys - 1u) * P.groups + kv_head) * D4 + c;
        walked[i / 8u * ROW + i % 8u] = select(vec4f(), v[at], c < D4);
      }
      workgroupBarrier();
      for (var i = 0u; i < 8u; i++) {
        // @for c in 4
        let e${c} = walked[(i + ${c}u * 8u) * ROW + x];
        // @end
        // @for r in 4
        {
          let w = weights[(y * 4u + ${r}u) * ROW + i];
          o${r}_${n} += w.x * e0 + w.y * e1 + w.z * e2 + w.w * e3;
        }
        // @end
      }
      // @end
    }
  }

  workgroupBarrier();
  // @for r in 4
  found[(y * 4u + ${r}u) * 8u + x] = sum${r};
  // @end
  workgroupBarrier();
  // @for r in 4
  if (row0 + y * 4u + ${r}u < P.queries) {
    let row = ((part * P.queries + row0 + y * 4u + ${r}u) * P.heads + head);
    var sum = 0.0;
    for (var i = 0u; i < 8u; i++) { sum += found[(y * 4u + ${r}u) * 8u + i]; }
    // A part that the row sees nothing of gets no weight.
    sum = max(sum, 1e-30);
    // @for n in CHUNKS
    if (${n}u * 8u + x < D4) { o[row * D4 + ${n}u * 8u + x] = o${r}_${n} / sum; }
    // @end
    if (x == 0u) { lse[row] = top${r} + log(sum); }
  }
  // @end
}
