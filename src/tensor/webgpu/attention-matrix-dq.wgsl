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
  // @for z in A_REGISTERS
  // @for m in QM
  // @for c in DC
  let q${m}_${c} = subgroupMatrixLoad<Left, row_major>(&q, from${m} + ${c}u * 2u, stride);
  let do${m}_${c} = subgroupMatrixLoad<Left, row_major>(&dout, from${m} + ${c}u * 2u, stride);
  // @end
  // @end
  // @end

  for (var piece = 0u; piece < 2u; piece++) {
    let first = select(span.x, span.z, piece == 1u);
    let last = select(span.y, span.w, piece == 1u);
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
        var d${m}_${n} = Sum();
        // @end
        // @end
        // @for c in DC
        {
          // @for z in A_STORAGE
          // @for m in QM
          let q${m}_${c} = subgroupMatrixLoad<Left, row_major>(&q, from${m} + ${c}u * 2u, stride);
          let do${m}_${c} = subgroupMatrixLoad<Left, row_major>(&dout, from${m} + ${c}u * 2u, stride);
          // @end
          // @end
          // @for n in NK
          let k${n} = subgroupMatrixLoad<Right, col_major>(&key_tile, ${n}u * 16u * TILE + ${c}u * 2u, TILE);
          let v${n} = subgroupMatrixLoad<Right, col_major>(&value_tile, ${n}u * 16u * TILE + ${c}u * 2u, TILE);
          // @for m in QM
          s${m}_${n} = subgroupMatrixMultiplyAccumulate(q${m}_${c}, k${n}, s${m}_${n});
          d${m}_${n} = subgroupMatrixMultiplyAccumulate(do${m}_${c}, v${n}, d${m}_${n});
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
        let left = j + share * WIDTH;
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
          let k0 = subgroupMatrixLoad<Right, row_major>(&key_tile, ${c}u * 16u * TILE + ${n}u * 2u, TILE);
          // @for m in QM
          dq${m}_${n} = subgroupMatrixMultiplyAccumulate(d${m}, k0, dq${m}_${n});
          // @end
        }
        // @end
      }
      // @end
      workgroupBarrier();
    }
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
