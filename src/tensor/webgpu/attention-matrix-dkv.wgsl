// dV = Pᵀ dO and dK = dSᵀ Q / √D by the matrix units: a workgroup takes ${ROWS} key rows of one key/value head and walks, in
// tiles of ${BK}, the query rows that see any of them, of every head of the group. Scores are held transposed, keys as rows.
// Where registers do not hold both gradients, each has a dispatch of its own. See attention-matrix-forward.wgsl.

@group(0) @binding(6) var<storage, read> query_end: array<u32>;
@group(0) @binding(7) var<storage, read> plan: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> dk: array<vec4f>;
@group(0) @binding(9) var<storage, read_write> dv: array<vec4f>;

// P is below 1 and often small: this keeps it clear of the subnormals of f16.
const LIFT = 4096.0;

var<workgroup> query_tile: array<vec4u, BK * TILE>;
var<workgroup> dout_tile: array<vec4u, BK * TILE>;
// Of the tile's queries, four at a time.
var<workgroup> lse_tile: array<vec4f, BK / 4u>;
var<workgroup> mean_tile: array<vec4f, BK / 4u>;
// f32 S, then in the first half of each thread's share the f16 of P, then f32 dO · V, then the f16 of dS: one after the
// other, since workgroup memory decides how many rows can share a tile.
var<workgroup> scores: array<vec4u, ROWS * SCORE>;

@compute @workgroup_size(${THREADS})
fn attention_matrix_dkv(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let number = group_number(P.base, workgroup, groups);
  if (number >= P.blocks * P.groups) { return; }
  let kv_head = number % P.groups;
  // The first keys of a causal pack are seen by the most queries: they go first.
  let block = number / P.groups;
  let new_row = block * ROWS;
  let row0 = min(new_row, P.keys - ROWS);
  let last = plan[2u + block].y;
  let factors = bitcast<vec4f>(plan[0]);
  let more_factors = bitcast<vec4f>(plan[1]);
  let band = subgroupBroadcastFirst(local / 32u) * ${QM}u * 16u;
  let stride = P.groups * D8;
  let heads_per_group = P.heads / P.groups;

  let row = local / SHARE;
  let share = local % SHARE;
  let mine = row * SCORE + share * (WIDTH / 4u);
  let start = row0 + row;
  let end = min(query_end[start], last);
  // @for m in QM
  let from${m} = ((row0 + band + ${m}u * 16u) * P.groups + kv_head) * D8;
  // @for n in DC
  // @for z in DK
  var dk${m}_${n}: Sum;
  // @end
  // @for z in DV
  var dv${m}_${n}: Sum;
  // @end
  // @end
  // @end
  // @for m in QM
  // @for c in DC
  let k${m}_${c} = subgroupMatrixLoad<Left, row_major>(&k, from${m} + ${c}u * 2u, stride);
  // @for y in DK
  let v${m}_${c} = subgroupMatrixLoad<Left, row_major>(&v, from${m} + ${c}u * 2u, stride);
  // @end
  // @end
  // @end

  // This thread's first row of a tile, and its eight columns.
  let r = local / D8;
  let c = local % D8;
  // @for i in AHEAD
  var q${i}: vec4u;
  var do${i}: vec4u;
  // @end
  // @for z in HOLDS
  if (row0 < last) {
    // @for i in AHEAD
    q${i} = q[(min(row0 + r + ${i}u * STEP, last - 1u) * P.heads + kv_head * heads_per_group) * D8 + c];
    do${i} = dout[(min(row0 + r + ${i}u * STEP, last - 1u) * P.heads + kv_head * heads_per_group) * D8 + c];
    // @end
  }
  // @end

  for (var head = kv_head * heads_per_group; head < (kv_head + 1u) * heads_per_group; head++) {
    for (var t = row0; t < last; t += BK) {
      // @for i in AHEAD
      query_tile[(r + ${i}u * STEP) * TILE + c] = q${i};
      dout_tile[(r + ${i}u * STEP) * TILE + c] = do${i};
      // @end
      // @for u in ROUNDS
      {
        // @for i in AT_ONCE
        let r${i} = r + (${u}u * ${AT_ONCE}u + ${i}u) * STEP;
        let at${i} = (min(t + r${i}, last - 1u) * P.heads + head) * D8 + c;
        let q${i} = q[at${i}];
        let do${i} = dout[at${i}];
        // @end
        // @for i in AT_ONCE
        query_tile[r${i} * TILE + c] = q${i};
        dout_tile[r${i} * TILE + c] = do${i};
        // @end
      }
      // @end
      {
        if (local < BK / 4u) {
          // @for i in 4
          let stat${i} = stats[min(t + local * 4u + ${i}u, last - 1u) * P.heads + head] * vec2f(1.4426950408889634, factors.y);
          // @end
          lse_tile[local] = vec4f(stat0.x, stat1.x, stat2.x, stat3.x);
          mean_tile[local] = vec4f(stat0.y, stat1.y, stat2.y, stat3.y);
        }
      }
      workgroupBarrier();
      // @for z in HOLDS
      let turns = t + BK >= last;
      let next = select(t + BK, row0, turns);
      let next_head = min(head + u32(turns), (kv_head + 1u) * heads_per_group - 1u);
      // @end
      // @for i in AHEAD
      q${i} = q[(min(next + r + ${i}u * STEP, last - 1u) * P.heads + next_head) * D8 + c];
      do${i} = dout[(min(next + r + ${i}u * STEP, last - 1u) * P.heads + next_head) * D8 + c];
      // @end
      {
        // Without a value of its own, Dawn would not clear a matrix that is declared in a loop.
        // @for m in QM
        // @for n in NK
        var s${m}_${n} = Sum();
        // @for z in DK
        var d${m}_${n} = Sum();
        // @end
        // @end
        // @end
        // @for c in DC
        {
          // @for n in NK
          let queries${n} = subgroupMatrixLoad<Right, col_major>(&query_tile, ${n}u * 16u * TILE + ${c}u * 2u, TILE);
          // @for m in QM
          s${m}_${n} = subgroupMatrixMultiplyAccumulate(k${m}_${c}, queries${n}, s${m}_${n});
          // @end
          // @for z in DK
          let douts${n} = subgroupMatrixLoad<Right, col_major>(&dout_tile, ${n}u * 16u * TILE + ${c}u * 2u, TILE);
          // @for m in QM
          d${m}_${n} = subgroupMatrixMultiplyAccumulate(v${m}_${c}, douts${n}, d${m}_${n});
          // @end
          // @end
          // @end
        }
        // @end
        // @for m in QM
        // @for n in NK
        subgroupMatrixStore<row_major>(&scores, (band + ${m}u * 16u) * SCORE + ${n}u * 4u, s${m}_${n}, SCORE);
        // @end
        // @end
        workgroupBarrier();
        let left = t + share * WIDTH;
        let cut = left < start || left + WIDTH > end;
        // @for i in W8
        // @for h in 2
        var p${i}_${h} = exp2(bitcast<vec4f>(scores[mine + ${i}u * 2u + ${h}u]) * factors.x
          - lse_tile[share * (WIDTH / 4u) + ${i}u * 2u + ${h}u]);
        if (cut) {
          let ts = vec4u(left + ${i}u * 8u + ${h}u * 4u) + vec4u(0u, 1u, 2u, 3u);
          p${i}_${h} = select(vec4f(), p${i}_${h}, (ts >= vec4u(start)) & (ts < vec4u(end)));
        }
        // @end
        // @end
        // @for z in DV
        // @for i in W8
        {
          let a = p${i}_0 * LIFT;
          let b = p${i}_1 * LIFT;
          scores[mine + ${i}u] = vec4u(pack2x16float(a.xy), pack2x16float(a.zw), pack2x16float(b.xy), pack2x16float(b.zw));
        }
        // @end
        workgroupBarrier();
        // @for c in NK
        {
          // @for m in QM
          let p${m} = subgroupMatrixLoad<Left, row_major>(&scores, (band + ${m}u * 16u) * SCORE + ${c}u * 16u / WIDTH * (WIDTH / 4u) + ${c}u * 16u % WIDTH / 8u, SCORE);
          // @end
          // @for n in DC
          {
            let douts = subgroupMatrixLoad<Right, row_major>(&dout_tile, ${c}u * 16u * TILE + ${n}u * 2u, TILE);
            // @for m in QM
            dv${m}_${n} = subgroupMatrixMultiplyAccumulate(p${m}, douts, dv${m}_${n});
            // @end
          }
          // @end
        }
        // @end
        // @end
        // @for z in DK
        workgroupBarrier();
        // @for m in QM
        // @for n in NK
        subgroupMatrixStore<row_major>(&scores, (band + ${m}u * 16u) * SCORE + ${n}u * 4u, d${m}_${n}, SCORE);
        // @end
        // @end
        workgroupBarrier();
        // @for i in W8
        {
          let means = share * (WIDTH / 4u) + ${i}u * 2u;
          let a = p${i}_0 * ((bitcast<vec4f>(scores[mine + ${i}u * 2u]) - mean_tile[means]) * SLOPE);
          let b = p${i}_1 * ((bitcast<vec4f>(scores[mine + ${i}u * 2u + 1u]) - mean_tile[means + 1u]) * SLOPE);
          scores[mine + ${i}u] = vec4u(pack2x16float(a.xy), pack2x16float(a.zw), pack2x16float(b.xy), pack2x16float(b.zw));
        }
        // @end
        workgroupBarrier();
        // @for c in NK
        {
          // @for m in QM
          let d${m} = subgroupMatrixLoad<Left, row_major>(&scores, (band + ${m}u * 16u) * SCORE + ${c}u * 16u / WIDTH * (WIDTH / 4u) + ${c}u * 16u % WIDTH / 8u, SCORE);
          // @end
          // @for n in DC
          {
            let queries = subgroupMatrixLoad<Right, row_major>(&query_tile, ${c}u * 16u * TILE + ${n}u * 2u, TILE);
            // @for m in QM
            dk${m}_${n} = subgroupMatrixMultiplyAccumulate(d${m}, queries, dk${m}_${n});
            // @end
          }
          // @end
        }
        // @end
        // @end
      }
      workgroupBarrier();
    }
  }

  // @for z in DK
  // @for n in DC
  // @for m in QM
  subgroupMatrixStore<row_major>(&scores, (band + ${m}u * 16u) * 4u, dk${m}_${n}, 4u);
  // @end
  workgroupBarrier();
  for (var i = local; i < ROWS * 4u; i += THREADS) {
    if (row0 + i / 4u >= new_row) {
      dk[((row0 + i / 4u) * P.groups + kv_head) * (D8 * 2u) + ${n}u * 4u + i % 4u] = bitcast<vec4f>(scores[i]) * more_factors.x;
    }
  }
  workgroupBarrier();
  // @end
  // @end
  // @for z in DV
  // @for n in DC
  // @for m in QM
  subgroupMatrixStore<row_major>(&scores, (band + ${m}u * 16u) * 4u, dv${m}_${n}, 4u);
  // @end
  workgroupBarrier();
  for (var i = local; i < ROWS * 4u; i += THREADS) {
    if (row0 + i / 4u >= new_row) {
      dv[((row0 + i / 4u) * P.groups + kv_head) * (D8 * 2u) + ${n}u * 4u + i % 4u] = bitcast<vec4f>(scores[i]) * (more_factors.y / LIFT);
    }
  }
  workgroupBarrier();
  // @end
  // @end
}
