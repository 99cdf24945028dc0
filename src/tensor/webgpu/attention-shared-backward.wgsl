// The gradients of attention through tiles in workgroup memory, in f32: attention_shared_dq holds 32 query rows of one
// head and walks the keys that any of them sees, attention_shared_dkv holds 32 key rows of one key/value head and walks
// the query rows that see any of them. With p = exp(score − lse), D = rowsum(dO ∘ O), dS = p (dO · V − D):
// dQ = dS K / √D, dV = pᵀ dO, dK = dSᵀ Q / √D. Rows of the heads pass through in chunks of 32 values.
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
// @for z in OF_QUERIES
// A query row each: (start, end) of its prefix's keys, and of its own.
@group(0) @binding(6) var<storage, read> ranges: array<vec4u>;
@group(0) @binding(7) var<storage, read_write> dq: array<vec4f>;
// @end
// @for z in OF_KEYS
@group(0) @binding(6) var<storage, read> query_end: array<u32>;
@group(0) @binding(7) var<storage, read_write> dk: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> dv: array<vec4f>;
// @end

// Vec4s a head, and chunks of eight of them.
const D4 = ${D4}u;
const CHUNKS = ${CHUNKS}u;
// Rows of tiles and columns of scores per workgroup; each thread has 4 × 4.
const SIDE = 32u;
// Vec4s from one row of a tile to the next: an odd number, so that neighbouring rows lie in different banks.
const ROW = 9u;

// A chunk of Q and dO (K and V) of the held rows, and of K and V (Q and dO) of the rows that are walked.
var<workgroup> held: array<vec4f, SIDE * ROW>;
var<workgroup> held_too: array<vec4f, SIDE * ROW>;
var<workgroup> walked: array<vec4f, SIDE * ROW>;
var<workgroup> walked_too: array<vec4f, SIDE * ROW>;
// dS, and p, a held row each.
var<workgroup> slopes: array<vec4f, SIDE * ROW>;
// @for z in OF_KEYS
var<workgroup> weights: array<vec4f, SIDE * ROW>;
// @end
var<workgroup> row_ranges: array<vec4u, SIDE>;
var<workgroup> span: vec4u;

// The first vec4 of a row: of queries in q and dout, of keys in k and v.
fn query_at(row: u32, head: u32) -> u32 { return (min(row, P.queries - 1u) * P.heads + head) * D4; }
fn key_at(row: u32, kv_head: u32) -> u32 { return (min(row, P.keys - 1u) * P.groups + kv_head) * D4; }

// A thread's columns are four neighbours, which it writes as one vec4, yet neighbouring threads read neighbouring rows of
// the tile: row x + 8 c of it holds row 4 x + c of what is walked.
fn walked_row(r: u32) -> u32 { return r % 8u * 4u + r / 8u; }

fn load_queries(chunk: u32, row: u32, head: u32, local: u32, are_held: bool) {
  for (var i = local; i < SIDE * 8u; i += 64u) {
    let c = chunk * 8u + i % 8u;
    let r = i / 8u;
    let at = query_at(row + select(walked_row(r), r, are_held), head) + c;
    let a = select(vec4f(), q[at], c < D4);
    let b = select(vec4f(), dout[at], c < D4);
    if (are_held) {
      held[r * ROW + i % 8u] = a;
      held_too[r * ROW + i % 8u] = b;
    } else {
      walked[r * ROW + i % 8u] = a;
      walked_too[r * ROW + i % 8u] = b;
    }
  }
}

fn load_keys(chunk: u32, row: u32, kv_head: u32, local: u32, are_held: bool) {
  for (var i = local; i < SIDE * 8u; i += 64u) {
    let c = chunk * 8u + i % 8u;
    let r = i / 8u;
    let at = key_at(row + select(walked_row(r), r, are_held), kv_head) + c;
    let a = select(vec4f(), k[at], c < D4);
    let b = select(vec4f(), v[at], c < D4);
    if (are_held) {
      held[r * ROW + i % 8u] = a;
      held_too[r * ROW + i % 8u] = b;
    } else {
      walked[r * ROW + i % 8u] = a;
      walked_too[r * ROW + i % 8u] = b;
    }
  }
}

@compute @workgroup_size(64)
fn attention_shared_${WHICH}(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let number = group_number(P.base, workgroup, groups);
  let share = P.heads / P.groups;
  // @for z in OF_QUERIES
  let blocks = (P.queries + SIDE - 1u) / SIDE;
  let head = number % P.heads;
  let kv_head = head / share;
  // The last blocks of a causal pack see the most keys, and go first.
  if (number >= blocks * P.heads) { return; }
  let row0 = (blocks - 1u - number / P.heads) * SIDE;
  if (local < SIDE) { row_ranges[local] = min(ranges[min(row0 + local, P.queries - 1u)], vec4u(P.keys)); }
  let turns = 2u;
  // @end
  // @for z in OF_KEYS
  let blocks = (P.keys + SIDE - 1u) / SIDE;
  let kv_head = number % P.groups;
  if (number >= blocks * P.groups) { return; }
  let row0 = number / P.groups * SIDE;
  if (local < SIDE) {
    let row = min(row0 + local, P.keys - 1u);
    row_ranges[local] = vec4u(0u, 0u, row, min(query_end[row], P.queries));
  }
  let turns = share;
  // @end
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
  // @for z in OF_QUERIES
  let stat${r} = stats[min(row0 + y * 4u + ${r}u, P.queries - 1u) * P.heads + head];
  // @end
  // @for c in CHUNKS
  var sum${r}_${c} = vec4f();
  // @for z in OF_KEYS
  var sum_too${r}_${c} = vec4f();
  // @end
  // @end
  // @end
  // @for z in ONE_CHUNK
  load_${HELD}(0u, row0, ${HELD_HEAD}, local, true);
  // @end

  for (var turn = 0u; turn < turns; turn++) {
    // @for z in OF_QUERIES
    let own = turn == 1u;
    // @end
    // @for z in OF_KEYS
    let own = true;
    let head = kv_head * share + turn;
    // @end
    let first = select(walk.x, walk.z, own);
    let last = select(walk.y, walk.w, own);
    for (var j = first; j < last; j += SIDE) {
      // @for r in 4
      // @for c in 4
      var s${r}_${c} = 0.0;
      var d${r}_${c} = 0.0;
      // @end
      // @end
      for (var chunk = 0u; chunk < CHUNKS; chunk++) {
        workgroupBarrier();
        // @for z in MANY_CHUNKS
        load_${HELD}(chunk, row0, ${HELD_HEAD}, local, true);
        // @end
        load_${WALKED}(chunk, j, ${WALKED_HEAD}, local, false);
        workgroupBarrier();
        for (var i = 0u; i < 8u; i++) {
          // @for r in 4
          let a${r} = held[(y * 4u + ${r}u) * ROW + i];
          let b${r} = held_too[(y * 4u + ${r}u) * ROW + i];
          // @end
          // @for c in 4
          {
            let e = walked[(x + ${c}u * 8u) * ROW + i];
            let f = walked_too[(x + ${c}u * 8u) * ROW + i];
            // @for r in 4
            s${r}_${c} += dot(a${r}, e);
            d${r}_${c} += dot(b${r}, f);
            // @end
          }
          // @end
        }
      }
      let columns = vec4u(j + x * 4u) + vec4u(0u, 1u, 2u, 3u);
      // @for z in OF_KEYS
      // @for c in 4
      let stat${c} = stats[min(columns[${c}], P.queries - 1u) * P.heads + head];
      // @end
      let lse = vec4f(stat0.x, stat1.x, stat2.x, stat3.x);
      let mean = vec4f(stat0.y, stat1.y, stat2.y, stat3.y);
      // @end
      // @for r in 4
      {
        // @for z in OF_QUERIES
        let lse = stat${r}.x;
        let mean = stat${r}.y;
        // @end
        let seen = (columns >= vec4u(select(range${r}.x, range${r}.z, own))) & (columns < vec4u(select(range${r}.y, range${r}.w, own)));
        let p = select(vec4f(), exp(vec4f(s${r}_0, s${r}_1, s${r}_2, s${r}_3) * P.scale - lse), seen);
        slopes[(y * 4u + ${r}u) * ROW + x] = p * (vec4f(d${r}_0, d${r}_1, d${r}_2, d${r}_3) - mean);
        // @for z in OF_KEYS
        weights[(y * 4u + ${r}u) * ROW + x] = p;
        // @end
      }
      // @end
      // @for n in CHUNKS
      workgroupBarrier();
      // @for z in MANY_CHUNKS
      load_${WALKED}(${n}u, j, ${WALKED_HEAD}, local, false);
      workgroupBarrier();
      // @end
      for (var i = 0u; i < 8u; i++) {
        // @for c in 4
        let e${c} = walked[(i + ${c}u * 8u) * ROW + x];
        // @for z in OF_KEYS
        let f${c} = walked_too[(i + ${c}u * 8u) * ROW + x];
        // @end
        // @end
        // @for r in 4
        {
          let w = slopes[(y * 4u + ${r}u) * ROW + i];
          sum${r}_${n} += w.x * e0 + w.y * e1 + w.z * e2 + w.w * e3;
          // @for z in OF_KEYS
          let p = weights[(y * 4u + ${r}u) * ROW + i];
          sum_too${r}_${n} += p.x * f0 + p.y * f1 + p.z * f2 + p.w * f3;
          // @end
        }
        // @end
      }
      // @end
    }
  }

  // @for r in 4
  // @for n in CHUNKS
  if (row0 + y * 4u + ${r}u < P.${ROWS} && ${n}u * 8u + x < D4) {
    // @for z in OF_QUERIES
    dq[query_at(row0 + y * 4u + ${r}u, head) + ${n}u * 8u + x] = sum${r}_${n} * P.scale;
    // @end
    // @for z in OF_KEYS
    dk[key_at(row0 + y * 4u + ${r}u, kv_head) + ${n}u * 8u + x] = sum${r}_${n} * P.scale;
    dv[key_at(row0 + y * 4u + ${r}u, kv_head) + ${n}u * 8u + x] = sum_too${r}_${n};
    // @end
  }
  // @end
  // @end
}
