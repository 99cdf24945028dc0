// Attention by the matrix units: o = softmax(q · kᵀ / √D) · v, f16 operands, f32 sums. A workgroup takes ${ROWS} query rows
// of one head and walks the keys that any of them sees in tiles of ${BK}: S = Q Kᵀ goes to workgroup memory, where its
// threads make P = 2^(S − m) of it, and O += P V. Groups of ${SPLIT} subgroups hold the same rows, each with its share of a
// tile's keys and of O's columns: what one loads from workgroup memory then serves more products.
// S of a tile is computed beside P of the tile before: neither waits for the other.
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
@group(0) @binding(2) var<storage, ${HELD_K}> k: array<vec4u>;
@group(0) @binding(3) var<storage, ${HELD_K}> v: array<vec4u>;
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
// f32 S; once they are read, O on its way to be rescaled or stored, 16 columns at a time.
var<workgroup> scores: array<vec4u, ROWS * SCORE>;
// f16 P.
var<workgroup> weights: array<vec4u, ROWS * WEIGHT>;
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
  // Turns scores into logarithms to base 2.
  let factor = bitcast<vec4f>(plan[0]).x;
  let subgroup = subgroupBroadcastFirst(local / 32u);
  let band = subgroup / ${SPLIT}u * ${QM}u * 16u;
  let side = subgroup % ${SPLIT}u;

  let row = local / SHARE;
  let share = local % SHARE;
  let range = ranges[row0 + row];
  // m before its factor, and this thread's part of the sum of P.
  var top = LOWEST;
  var sum = 0.0;
  // @for m in QM
  // @for n in OC
  var o${m}_${n}: Sum;
  // @end
  // @for c in DC
  let q${m}_${c} = subgroupMatrixLoad<Left, row_major>(&q, ((row0 + band + ${m}u * 16u) * P.heads + head) * D8 + ${c}u * 2u, P.heads * D8);
  // @end
  // @end

  let bounds = clamp(plan[2u + block], vec4u(part * P.part), vec4u((part + 1u) * P.part));
  let prefix_tiles = tile_count(bounds.xy);
  let tiles = prefix_tiles + tile_count(bounds.zw);
  // This thread's first row of a tile, and its eight columns.
  let r = local / D8;
  let c = local % D8;
  if (tiles > 0u) {
    let opening = tile_at(0u, bounds, prefix_tiles);
    // @for i in LOADS
    key_tile[(r + ${i}u * STEP) * TILE + c] = k[(min(opening.x + r + ${i}u * STEP, opening.y - 1u) * P.groups + kv_head) * D8 + c];
    // @end
    workgroupBarrier();
    // Of tile t the scores, of the one before it the weights and values. The first round's weights are zero; the last
    // one's scores are not used.
    for (var t = 0u; t <= tiles; t++) {
      let before = tile_at(max(t, 1u) - 1u, bounds, prefix_tiles);
      let after = tile_at(min(t + 1u, tiles - 1u), bounds, prefix_tiles);
      // @for i in LOADS
      let k${i} = k[(min(after.x + r + ${i}u * STEP, after.y - 1u) * P.groups + kv_head) * D8 + c];
      let v${i} = v[(min(before.x + r + ${i}u * STEP, before.y - 1u) * P.groups + kv_head) * D8 + c];
      // @end
      let own = t > prefix_tiles;
      let start = select(range.x, range.z, own);
      let end = select(min(select(range.y, range.w, own), before.y), 0u, t == 0u);
      let left = before.x + share * WIDTH;
      // @for i in W8
      // @for h in 2
      var x${i}_${h} = bitcast<vec4f>(scores[row * SCORE + share * (WIDTH / 4u) + ${i}u * 2u + ${h}u]);
      // @end
      // @end
      if (left < start || left + WIDTH > end) {
        // @for i in W8
        // @for h in 2
        {
          let js = vec4u(left + ${i}u * 8u + ${h}u * 4u) + vec4u(0u, 1u, 2u, 3u);
          x${i}_${h} = select(vec4f(LOWEST), x${i}_${h}, (js >= vec4u(start)) & (js < vec4u(end)));
        }
        // @end
        // @end
      }
      // @for m in QM
      // @for n in SC
      // Without a value of its own, Dawn would not clear a matrix that is declared in a loop.
      var s${m}_${n} = Sum();
      // @end
      // @end
      // @for c in DC
      {
        // @for n in SC
        let keys${n} = subgroupMatrixLoad<Right, col_major>(&key_tile, (side * ${SC}u + ${n}u) * 16u * TILE + ${c}u * 2u, TILE);
        // @for m in QM
        s${m}_${n} = subgroupMatrixMultiplyAccumulate(q${m}_${c}, keys${n}, s${m}_${n});
        // @end
        // @end
      }
      // @end
      var most = x0_0;
      // @for i in W8
      most = max(most, max(x${i}_0, x${i}_1));
      // @end
      var new_top = max(max(most.x, most.y), max(most.z, most.w));
      // @for i in HALVINGS
      new_top = max(new_top, subgroupShuffleXor(new_top, 1u << ${i}u));
      // @end
      let grows = (new_top - top) * factor > LAG;
      // Where the row saw nothing before, its O is zero.
      let fades = grows && top > LOWEST;
      let fade = select(1.0, exp2((top - new_top) * factor), fades);
      top = select(top, new_top, grows);
      if (share == 0u) { factors[row] = fade; }
      let level = select(top, 0.0, top <= LOWEST) * factor;
      var total = vec4f();
      // @for i in W8
      {
        let a = exp2(fma(x${i}_0, vec4f(factor), vec4f(-level)));
        let b = exp2(fma(x${i}_1, vec4f(factor), vec4f(-level)));
        total += a + b;
        weights[row * WEIGHT + share * (WIDTH / 8u) + ${i}u] =
          vec4u(pack2x16float(a.xy), pack2x16float(a.zw), pack2x16float(b.xy), pack2x16float(b.zw));
      }
      // @end
      sum = sum * fade + dot(total, vec4f(1.0));
      if (fades) { atomicStore(&grown, 1u); }
      // @for i in LOADS
      value_tile[(r + ${i}u * STEP) * TILE + c] = v${i};
      // @end
      // A barrier, too: P and the values are there, the tile of keys and the scores are free.
      if (workgroupUniformLoad(&grown) == 1u) {
        // @for n in OC
        // @for m in QM
        subgroupMatrixStore<row_major>(&scores, (side * ROWS + band + ${m}u * 16u) * 4u, o${m}_${n}, 4u);
        // @end
        workgroupBarrier();
        for (var i = local; i < ${SPLIT}u * ROWS * 4u; i += THREADS) {
          scores[i] = bitcast<vec4u>(bitcast<vec4f>(scores[i]) * factors[i / 4u % ROWS]);
        }
        workgroupBarrier();
        // @for m in QM
        o${m}_${n} = subgroupMatrixLoad<Sum, row_major>(&scores, (side * ROWS + band + ${m}u * 16u) * 4u, 4u);
        // @end
        workgroupBarrier();
        // @end
        if (local == 0u) { atomicStore(&grown, 0u); }
      }
      // @for i in LOADS
      key_tile[(r + ${i}u * STEP) * TILE + c] = k${i};
      // @end
      // @for m in QM
      // @for n in SC
      subgroupMatrixStore<row_major>(&scores, (band + ${m}u * 16u) * SCORE + (side * ${SC}u + ${n}u) * 4u, s${m}_${n}, SCORE);
      // @end
      // @end
      // @for c in NK
      {
        // @for m in QM
        let p${m} = subgroupMatrixLoad<Left, row_major>(&weights, (band + ${m}u * 16u) * WEIGHT + ${c}u * 2u, WEIGHT);
        // @end
        // @for n in OC
        {
          let values = subgroupMatrixLoad<Right, row_major>(&value_tile, ${c}u * 16u * TILE + (side * ${OC}u + ${n}u) * 2u, TILE);
          // @for m in QM
          o${m}_${n} = subgroupMatrixMultiplyAccumulate(p${m}, values, o${m}_${n});
          // @end
        }
        // @end
      }
      // @end
      workgroupBarrier();
    }
  }

  // @for i in HALVINGS
  sum += subgroupShuffleXor(sum, 1u << ${i}u);
  // @end
  let to = part * P.queries + row0;
  // A part of the keys that the row sees nothing of gets no weight.
  sum = max(sum, 1e-30);
  if (share == 0u) {
    factors[row] = bitcast<vec4f>(plan[0]).y / sum;
    if (row0 + row >= new_row) { lse[(to + row) * P.heads + head] = (max(top * factor, LOWEST) + log2(sum)) * 0.6931471805599453; }
  }
  // @for n in OC
  // @for m in QM
  subgroupMatrixStore<row_major>(&scores, (side * ROWS + band + ${m}u * 16u) * 4u, o${m}_${n}, 4u);
  // @end
  workgroupBarrier();
  for (var i = local; i < ${SPLIT}u * ROWS * 4u; i += THREADS) {
    let at = i / 4u % ROWS;
    if (row0 + at >= new_row) {
      let column = (i / (ROWS * 4u) * ${OC}u + ${n}u) * 4u + i % 4u;
      o[((to + at) * P.heads + head) * (D8 * 2u) + column] = bitcast<vec4f>(scores[i]) * factors[at];
    }
  }
  workgroupBarrier();
  // @end
}
