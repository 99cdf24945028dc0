// dQ = dS K / √D with dS = P (dO · V − D), P = exp(S − lse), by the matrix units: a workgroup takes ${ROWS} query rows of
// one head and walks the keys that any of them sees in tiles of ${BK}. See attention-matrix-forward.wgsl.

@group(0) @binding(6) var<storage, read> ranges: array<vec4u>;
@group(0) @binding(7) var<storage, read> plan: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> dq: array<vec4f>;

var<workgroup> key_tile: array<vec4u, BK * TILE>;
var<workgroup> value_tile: array<vec4u, BK * TILE>;
// f32 S, then f32 dO · V, then in the first half of each thread's share the f16 of dS: one after the other, since
// workgroup memory decides how many rows can share a tile.
var<workgroup> scores: array<vec4u, ROWS * SCORE>;

@compute @workgroup_size(${THREADS})
fn attention_matrix_dq(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let number = group_number(P.base, workgroup, groups);
  if (number >= P.blocks * P.heads) { return; }
  let head = number % P.heads;
  let block = P.blocks - 1u - number / P.heads;
  let kv_head = head / (P.heads / P.groups);
  let new_row = block * ROWS;
  let row0 = min(new_row, P.queries - ROWS);
  let span = plan[2u + block];
  let factors = bitcast<vec4f>(plan[0]);
  let band = subgroupBroadcastFirst(local / 32u) * ${QM}u * 16u;
  let stride = P.heads * D8;

  let row = local / SHARE;
  let share = local % SHARE;
  let mine = row * SCORE + share * (WIDTH / 4u);
  let range = ranges[row0 + row];
  let stat = stats[(row0 + row) * P.heads + head] * vec2f(1.4426950408889634, factors.y);
  // @for m in QM
  let from${m} = ((row0 + band + ${m}u * 16u) * P.heads + head) * D8;
  // @for n in DC
  var dq${m}_${n}: Sum;
  // @end
  // @end
  // @for m in QM
  // @for c in DC
  let q${m}_${c} = subgroupMatrixLoad<Left, row_major>(&q, from${m} + ${c}u * 2u, stride);
  let do${m}_${c} = subgroupMatrixLoad<Left, row_major>(&dout, from${m} + ${c}u * 2u, stride);
  // @end
  // @end

  let prefix_tiles = tile_count(span.xy);
  let tiles = prefix_tiles + tile_count(span.zw);
  // This thread's first row of a tile, and its eight columns.
  let r = local / D8;
  let c = local % D8;
  // @for i in AHEAD
  var k${i}: vec4u;
  var v${i}: vec4u;
  // @end
  // @for z in HOLDS
  if (tiles > 0u) {
    let opening = tile_at(0u, span, prefix_tiles);
    // @for i in AHEAD
    k${i} = k[(min(opening.x + r + ${i}u * STEP, opening.y - 1u) * P.groups + kv_head) * D8 + c];
    v${i} = v[(min(opening.x + r + ${i}u * STEP, opening.y - 1u) * P.groups + kv_head) * D8 + c];
    // @end
  }
  // @end

  for (var t = 0u; t < tiles; t++) {
    let tile = tile_at(t, span, prefix_tiles);
    let own = t >= prefix_tiles;
    let start = select(range.x, range.z, own);
    let end = min(select(range.y, range.w, own), tile.y);
    // @for i in AHEAD
    key_tile[(r + ${i}u * STEP) * TILE + c] = k${i};
    value_tile[(r + ${i}u * STEP) * TILE + c] = v${i};
    // @end
    // @for u in ROUNDS
    {
      // @for i in AT_ONCE
      let r${i} = r + (${u}u * ${AT_ONCE}u + ${i}u) * STEP;
      let at${i} = (min(tile.x + r${i}, tile.y - 1u) * P.groups + kv_head) * D8 + c;
      let k${i} = k[at${i}];
      let v${i} = v[at${i}];
      // @end
      // @for i in AT_ONCE
      key_tile[r${i} * TILE + c] = k${i};
      value_tile[r${i} * TILE + c] = v${i};
      // @end
    }
    // @end
    workgroupBarrier();
    // @for z in HOLDS
    let after = tile_at(min(t + 1u, tiles - 1u), span, prefix_tiles);
    // @end
    // @for i in AHEAD
    k${i} = k[(min(after.x + r + ${i}u * STEP, after.y - 1u) * P.groups + kv_head) * D8 + c];
    v${i} = v[(min(after.x + r + ${i}u * STEP, after.y - 1u) * P.groups + kv_head) * D8 + c];
    // @end
    {
      // Without a value of its own, Dawn would not clear a matrix that is declared in a loop.
      // @for m in QM
      // @for n in NK
      var s${m}_${n} = Sum();
      var d${m}_${n} = Sum();
      // @end
      // @end
      // @for c in DC
      {
        // @for n in NK
        let keys${n} = subgroupMatrixLoad<Right, col_major>(&key_tile, ${n}u * 16u * TILE + ${c}u * 2u, TILE);
        let values${n} = subgroupMatrixLoad<Right, col_major>(&value_tile, ${n}u * 16u * TILE + ${c}u * 2u, TILE);
        // @for m in QM
        s${m}_${n} = subgroupMatrixMultiplyAccumulate(q${m}_${c}, keys${n}, s${m}_${n});
        d${m}_${n} = subgroupMatrixMultiplyAccumulate(do${m}_${c}, values${n}, d${m}_${n});
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
      let left = tile.x + share * WIDTH;
      let cut = left < start || left + WIDTH > end;
      // @for i in W8
      // @for h in 2
      var p${i}_${h} = exp2(bitcast<vec4f>(scores[mine + ${i}u * 2u + ${h}u]) * factors.x - stat.x) * SLOPE;
      if (cut) {
        let js = vec4u(left + ${i}u * 8u + ${h}u * 4u) + vec4u(0u, 1u, 2u, 3u);
        p${i}_${h} = select(vec4f(), p${i}_${h}, (js >= vec4u(start)) & (js < vec4u(end)));
      }
      // @end
      // @end
      workgroupBarrier();
      // @for m in QM
      // @for n in NK
      subgroupMatrixStore<row_major>(&scores, (band + ${m}u * 16u) * SCORE + ${n}u * 4u, d${m}_${n}, SCORE);
      // @end
      // @end
      workgroupBarrier();
      // @for i in W8
      {
        let a = p${i}_0 * (bitcast<vec4f>(scores[mine + ${i}u * 2u]) - stat.y);
        let b = p${i}_1 * (bitcast<vec4f>(scores[mine + ${i}u * 2u + 1u]) - stat.y);
        scores[mine + ${i}u] = vec4u(pack2x16float(a.xy), pack2x16float(a.zw), pack2x16float(b.xy), pack2x16float(b.zw));
      }
      // @end
    }
    workgroupBarrier();
    // @for c in NK
    {
      // @for m in QM
      let d${m} = subgroupMatrixLoad<Left, row_major>(&scores, (band + ${m}u * 16u) * SCORE + ${c}u * 16u / WIDTH * (WIDTH / 4u) + ${c}u * 16u % WIDTH / 8u, SCORE);
      // @end
      // @for n in DC
      {
        let keys = subgroupMatrixLoad<Right, row_major>(&key_tile, ${c}u * 16u * TILE + ${n}u * 2u, TILE);
        // @for m in QM
        dq${m}_${n} = subgroupMatrixMultiplyAccumulate(d${m}, keys, dq${m}_${n});
        // @end
      }
      // @end
    }
    // @end
    workgroupBarrier();
  }

  // @for n in DC
  // @for m in QM
  subgroupMatrixStore<row_major>(&scores, (band + ${m}u * 16u) * 4u, dq${m}_${n}, 4u);
  // @end
  workgroupBarrier();
  for (var i = local; i < ROWS * 4u; i += THREADS) {
    if (row0 + i / 4u >= new_row) {
      dq[((row0 + i / 4u) * P.heads + head) * (D8 * 2u) + ${n}u * 4u + i % 4u] = bitcast<vec4f>(scores[i]) * factors.z;
    }
  }
  workgroupBarrier();
  // @end
}
