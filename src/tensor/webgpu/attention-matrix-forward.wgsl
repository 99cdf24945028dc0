// Attention by the matrix units: o = softmax(q · kᵀ / √D) · v, f16 operands, f32 sums. A workgroup takes ${ROWS} query rows
// of one head and walks the keys that any of them sees in tiles of ${BK}: S = Q Kᵀ goes to workgroup memory, where its
// threads make P = 2^(S − m) of it, and O += P V.
// Matrices cannot be scaled by rows in registers, so m is a maximum that lags behind: O is rescaled, through workgroup
// memory, only where a row's true maximum has grown more than LAG beyond it. P stays below 2^LAG, well inside f16.

struct Params {
  base: u32,
  queries: u32, keys: u32, heads: u32, groups: u32,
  // Blocks of query rows; parts that the keys are cut into, and keys a part.
  blocks: u32, parts: u32, part: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
// f16, eight per vec4u.
@group(0) @binding(1) var<storage, read> q: array<vec4u>;
@group(0) @binding(2) var<storage, read> k: array<vec4u>;
@group(0) @binding(3) var<storage, read> v: array<vec4u>;
// A query row each: (start, end) of its prefix's keys, and of its own.
@group(0) @binding(4) var<storage, read> ranges: array<vec4u>;
// Factors (see attention_plan), then for each block the union of its rows' ranges.
@group(0) @binding(5) var<storage, read> plan: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> lse: array<f32>;

const LOWEST = -3.0e38;
const LAG = 10.0;

var<workgroup> key_tile: array<vec4u, BK * TILE>;
var<workgroup> value_tile: array<vec4u, BK * TILE>;
// f32 scores; in the first half of each thread's share then the f16 of P.
var<workgroup> scores: array<vec4u, ROWS * SCORE>;
// @for z in Q_SHARED
var<workgroup> query_tile: array<vec4u, ROWS * TILE>;
// @end
var<workgroup> factors: array<f32, ROWS>;
var<workgroup> grown: atomic<u32>;

@compute @workgroup_size(${THREADS})
fn attention_matrix_forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let number = group_number(P.base, workgroup, groups);
  let head = number % P.heads;
  let part = number / (P.heads * P.blocks);
  if (part >= P.parts) { return; }
  // The last blocks of a causal pack see the most: they go first.
  let block = P.blocks - 1u - number / P.heads % P.blocks;
  let kv_head = head / (P.heads / P.groups);
  // The last block overlaps with the one before it rather than reach past the end; it leaves those rows alone then.
  let new_row = block * ROWS;
  let row0 = min(new_row, P.queries - ROWS);
  let span = plan[2u + block];
  let factor = bitcast<vec4f>(plan[0]).x;
  let band = subgroupBroadcastFirst(local / 32u) * ${QM}u * 16u;

  let row = local / SHARE;
  let share = local % SHARE;
  let mine = row * SCORE + share * (WIDTH / 4u);
  let range = ranges[row0 + row];
  // m, and this thread's part of the sum of P.
  var top = LOWEST;
  var sum = 0.0;
  // @for m in QM
  // @for n in DC
  var o${m}_${n}: Sum;
  // @end
  // @end
  // @for z in Q_SHARED
  for (var i = local; i < ROWS * D8; i += THREADS) {
    query_tile[i / D8 * TILE + i % D8] = q[((row0 + i / D8) * P.heads + head) * D8 + i % D8];
  }
  // @end
  // @for z in A_REGISTERS
  // @for m in QM
  // @for c in DC
  let q${m}_${c} = subgroupMatrixLoad<Left, row_major>(&q, ((row0 + band + ${m}u * 16u) * P.heads + head) * D8 + ${c}u * 2u, P.heads * D8);
  // @end
  // @end
  // @end

  for (var piece = 0u; piece < 2u; piece++) {
    let first = max(select(span.x, span.z, piece == 1u), part * P.part);
    let last = min(select(span.y, span.w, piece == 1u), (part + 1u) * P.part);
    let start = select(range.x, range.z, piece == 1u);
    let end = min(select(range.y, range.w, piece == 1u), last);
    for (var j = first; j < last; j += BK) {
      // @for u in ROUNDS
      {
        // @for i in LOADS
        let r${i} = (local + (${u}u * ${LOADS}u + ${i}u) * THREADS) / D8;
        let c${i} = (local + (${u}u * ${LOADS}u + ${i}u) * THREADS) % D8;
        let at${i} = (min(j + r${i}, last - 1u) * P.groups + kv_head) * D8 + c${i};
        let k${i} = k[at${i}];
        let v${i} = v[at${i}];
        // @end
        // @for i in LOADS
        key_tile[r${i} * TILE + c${i}] = k${i};
        value_tile[r${i} * TILE + c${i}] = v${i};
        // @end
      }
      // @end
      workgroupBarrier();
      {
        // Without a value of its own, Dawn would not clear a matrix that is declared in a loop.
        // @for m in QM
        // @for n in NK
        var s${m}_${n} = Sum();
        // @end
        // @end
        // @for c in DC
        {
          // @for z in Q_SHARED
          // @for m in QM
          let q${m}_${c} = subgroupMatrixLoad<Left, row_major>(&query_tile, (band + ${m}u * 16u) * TILE + ${c}u * 2u, TILE);
          // @end
          // @end
          // @for z in A_STORAGE
          // @for m in QM
          let q${m}_${c} = subgroupMatrixLoad<Left, row_major>(&q, ((row0 + band + ${m}u * 16u) * P.heads + head) * D8 + ${c}u * 2u, P.heads * D8);
          // @end
          // @end
          // @for n in NK
          let k${n} = subgroupMatrixLoad<Right, col_major>(&key_tile, ${n}u * 16u * TILE + ${c}u * 2u, TILE);
          // @for m in QM
          s${m}_${n} = subgroupMatrixMultiplyAccumulate(q${m}_${c}, k${n}, s${m}_${n});
          // @end
          // @end
        }
        // @end
        // @for m in QM
        // @for n in NK
        subgroupMatrixStore<row_major>(&scores, (band + ${m}u * 16u) * SCORE + ${n}u * 4u, s${m}_${n}, SCORE);
        // @end
        // @end
      }
      workgroupBarrier();
      {
        // @for i in W8
        // @for h in 2
        var s${i}_${h} = bitcast<vec4f>(scores[mine + ${i}u * 2u + ${h}u]) * factor;
        // @end
        // @end
        let left = j + share * WIDTH;
        if (left < start || left + WIDTH > end) {
          // @for i in W8
          // @for h in 2
          {
            let js = vec4u(left + ${i}u * 8u + ${h}u * 4u) + vec4u(0u, 1u, 2u, 3u);
            s${i}_${h} = select(vec4f(LOWEST), s${i}_${h}, (js >= vec4u(start)) & (js < vec4u(end)));
          }
          // @end
          // @end
        }
        var most = s0_0;
        // @for i in W8
        most = max(most, max(s${i}_0, s${i}_1));
        // @end
        var new_top = max(max(most.x, most.y), max(most.z, most.w));
        // @for z in PAIRED
        new_top = max(new_top, subgroupShuffleXor(new_top, 1u));
        // @end
        var fade = 1.0;
        if (new_top > top + LAG) {
          // Where the row saw nothing before, its O is zero.
          if (top > LOWEST) {
            fade = exp2(top - new_top);
            atomicStore(&grown, 1u);
          }
          top = new_top;
        }
        if (share == 0u) { factors[row] = fade; }
        sum *= fade;
        let level = select(top, 0.0, top <= LOWEST);
        var total = vec4f();
        // @for i in W8
        {
          let a = exp2(s${i}_0 - level);
          let b = exp2(s${i}_1 - level);
          total += a + b;
          scores[mine + ${i}u] = vec4u(pack2x16float(a.xy), pack2x16float(a.zw), pack2x16float(b.xy), pack2x16float(b.zw));
        }
        // @end
        sum += dot(total, vec4f(1.0));
      }
      // A barrier, too: P is there, and the tile of keys is free.
      if (workgroupUniformLoad(&grown) == 1u) {
        // @for n in DC
        // @for m in QM
        subgroupMatrixStore<row_major>(&key_tile, (band + ${m}u * 16u) * 4u, o${m}_${n}, 4u);
        // @end
        workgroupBarrier();
        for (var i = local; i < ROWS * 4u; i += THREADS) {
          key_tile[i] = bitcast<vec4u>(bitcast<vec4f>(key_tile[i]) * factors[i / 4u]);
        }
        workgroupBarrier();
        // @for m in QM
        o${m}_${n} = subgroupMatrixLoad<Sum, row_major>(&key_tile, (band + ${m}u * 16u) * 4u, 4u);
        // @end
        workgroupBarrier();
        // @end
        if (local == 0u) { atomicStore(&grown, 0u); }
      }
      // @for c in NK
      {
        // @for m in QM
        let p${m} = subgroupMatrixLoad<Left, row_major>(&scores, (band + ${m}u * 16u) * SCORE + ${c}u * 16u / WIDTH * (WIDTH / 4u) + ${c}u * 16u % WIDTH / 8u, SCORE);
        // @end
        // @for n in DC
        {
          let v0 = subgroupMatrixLoad<Right, row_major>(&value_tile, ${c}u * 16u * TILE + ${n}u * 2u, TILE);
          // @for m in QM
          o${m}_${n} = subgroupMatrixMultiplyAccumulate(p${m}, v0, o${m}_${n});
          // @end
        }
        // @end
      }
      // @end
      workgroupBarrier();
    }
  }

  // @for z in PAIRED
  sum += subgroupShuffleXor(sum, 1u);
  // @end
  let to = part * P.queries + row0;
  // A part of the keys that the row sees nothing of gets no weight.
  sum = max(sum, 1e-30);
  if (share == 0u) {
    factors[row] = bitcast<vec4f>(plan[0]).y / sum;
    if (row0 + row >= new_row) { lse[(to + row) * P.heads + head] = (top + log2(sum)) * 0.6931471805599453; }
  }
  // @for n in DC
  // @for m in QM
  subgroupMatrixStore<row_major>(&key_tile, (band + ${m}u * 16u) * 4u, o${m}_${n}, 4u);
  // @end
  workgroupBarrier();
  for (var i = local; i < ROWS * 4u; i += THREADS) {
    if (row0 + i / 4u >= new_row) {
      o[((to + i / 4u) * P.heads + head) * (D8 * 2u) + ${n}u * 4u + i % 4u] = bitcast<vec4f>(key_tile[i]) * factors[i / 4u];
    }
  }
  workgroupBarrier();
  // @end
}
