enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
// Offsets of fragments depend on the subgroup's number alone, which the analysis does not know to be uniform.
diagnostic(off, chromium.subgroup_matrix_uniformity);
// C[s, m, n] (+)= scale · Σ_k A(m, k) · B(k, n) over part s of k, by subgroup matrices: f16 operands in panels (see
// half-panels.wgsl), f32 sums. A workgroup holds ${BM} × ${BN} values of C, each of its ${SUB_M} × ${SUB_N} subgroups of 32
// threads ${FM} × ${FN} fragments of 16 × ${NB}, and goes through k by 32. Where A_K (B_K) is 1, k runs along the panels'
// columns, else along their rows. Panels are padded with zeros, so that nothing is tested on the way.
struct Params {
  base: u32,
  M: u32, N: u32,
  // Tiles of 32 k: all, and those of a part; parts.
  tiles: u32, part: u32, parts: u32,
  // First 16 bytes of A and B, and 16 bytes from one panel to the next.
  a_at: u32, a_panel: u32,
  b_at: u32, b_panel: u32,
  // First value of C, in vec4s.
  c_at: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> A: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> B: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> scale_a: array<f32>;
@group(0) @binding(4) var<storage, read> scale_b: array<f32>;
@group(0) @binding(5) var<storage, read_write> C: array<vec4f>;

const BM = ${BM}u;
const BN = ${BN}u;
const THREADS = ${SUB_M}u * ${SUB_N}u * 32u;
const A_K = ${A_K}u == 1u;
const B_K = ${B_K}u == 1u;
// Known when the text is compiled: stores of fragments are cheaper then. In vec4s.
const C_ROW = ${C_ROW}u;
// 16 bytes per row of a tile as it lies in workgroup memory: one more than its values need, against bank conflicts.
const A_ROW = select(BM / 8u, 4u, A_K) + 1u;
const B_ROW = select(BN / 8u, 4u, B_K) + 1u;
const A_SIZE = select(32u, BM, A_K) * A_ROW;
const B_SIZE = select(32u, BN, B_K) * B_ROW;
// From one fragment to the next along m (n), and along k.
const A_NEXT = select(2u, 16u * A_ROW, A_K);
const A_DEEP = select(16u * A_ROW, 2u, A_K);
const B_NEXT = select(${NB}u / 8u, ${NB}u * B_ROW, B_K);
const B_DEEP = select(16u * B_ROW, 2u, B_K);
// A row of fragments of each subgroup on its way to C.
const OUT_VECS = ${FN}u * ${NB}u / 4u;
const OUT_ROW = OUT_VECS + 1u;
const OUT_SIZE = ${SUB_M}u * ${SUB_N}u * 16u * OUT_ROW;
const TILES_SIZE = select(A_SIZE + B_SIZE, OUT_SIZE, OUT_SIZE > A_SIZE + B_SIZE);
// More than about 24 KiB would halve the workgroups that an NVIDIA multiprocessor runs side by side.
var<workgroup> tiles: array<vec4<u32>, TILES_SIZE>;

@compute @workgroup_size(THREADS)
fn matmul_matrix(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let group = group_number(P.base, workgroup, groups);
  let tiles_n = (P.N + BN - 1u) / BN;
  let tiles_m = (P.M + BM - 1u) / BM;
  let n0 = group % tiles_n * BN;
  let m0 = group / tiles_n % tiles_m * BM;
  let s = group / (tiles_n * tiles_m);
  if (s >= P.parts) { return; }
  let lane = local % 32u;
  let subgroup = local / 32u;
  let sub_m = subgroup / ${SUB_N}u * ${FM}u;
  let sub_n = subgroup % ${SUB_N}u * ${FN}u;

  // Four threads load the 64 bytes of a row; rows of a panel lie in the order 0 4 1 5 2 6 3 7 (see half-panels.wgsl), so that
  // eight threads read 128 bytes in one piece and store to eight different banks.
  let row = local / 32u * 8u + ((local >> 2u) & 1u) * 4u + ((local >> 3u) & 3u);
  let chunk = local & 3u;
  let a_to = select(row % 32u * A_ROW + row / 32u * 4u + chunk, row * A_ROW + chunk, A_K);
  let b_to = A_SIZE + select(row % 32u * B_ROW + row / 32u * 4u + chunk, row * B_ROW + chunk, B_K);
  let a_from = P.a_at + select((m0 / 32u + local / 128u) * P.a_panel + local % 128u, m0 * 4u + local, A_K);
  let b_from = P.b_at + select((n0 / 32u + local / 128u) * P.b_panel + local % 128u, n0 * 4u + local, B_K);
  let a_step = select(128u, P.a_panel, A_K);
  let b_step = select(128u, P.b_panel, B_K);
  let a_load = select(THREADS / 128u * P.a_panel, THREADS, A_K);
  let b_load = select(THREADS / 128u * P.b_panel, THREADS, B_K);
  const A_STORE = select(THREADS / 128u * 4u, THREADS / 4u * A_ROW, A_K);
  const B_STORE = select(THREADS / 128u * 4u, THREADS / 4u * B_ROW, B_K);

  // @for i in FM
  // @for j in FN
  var c${i}_${j}: subgroup_matrix_result<f32, ${NB}, 16>;
  // @end
  // @end
  let begin = s * P.part;
  let end = min(begin + P.part, P.tiles);
  // The next tile is on its way through registers while this one is multiplied.
  // @for r in A_LOADS
  var a_load${r} = A[a_from + ${r}u * a_load + begin * a_step];
  // @end
  // @for r in B_LOADS
  var b_load${r} = B[b_from + ${r}u * b_load + begin * b_step];
  // @end
  // A loop whose rounds are known before it starts runs a fifth faster; one of a constant number a little more.
  // @for once in COUNTED
  for (var left = end - begin; left > 0u; left--) {
    let k = end - left;
    // @end
  // @for once in NESTED
  for (var outer = begin; outer < end; outer += 16u) { for (var inner = 0u; inner < 16u; inner++) {
    let k = outer + inner;
    // @end
    // @for r in A_LOADS
    tiles[a_to + ${r}u * A_STORE] = a_load${r};
    // @end
    // @for r in B_LOADS
    tiles[b_to + ${r}u * B_STORE] = b_load${r};
    // @end
    workgroupBarrier();
    let next = min(k + 1u, end - 1u);
    // @for r in A_LOADS
    a_load${r} = A[a_from + ${r}u * a_load + next * a_step];
    // @end
    // @for r in B_LOADS
    b_load${r} = B[b_from + ${r}u * b_load + next * b_step];
    // @end
    // @for d in 2
    {
      // @for i in FM
      let a${i} = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, ${A_ORDER}>(&tiles, (sub_m + ${i}u) * A_NEXT + ${d}u * A_DEEP, A_ROW);
      // @end
      // @for j in FN
      let b${j} = subgroupMatrixLoad<subgroup_matrix_right<f16, ${NB}, 16>, ${B_ORDER}>(&tiles, A_SIZE + (sub_n + ${j}u) * B_NEXT + ${d}u * B_DEEP, B_ROW);
      // @for i in FM
      c${i}_${j} = subgroupMatrixMultiplyAccumulate(a${i}, b${j}, c${i}_${j});
      // @end
      // @end
    }
    // @end
    workgroupBarrier();
  // @for once in NESTED
  }
  // @end
  }

  let scale = scale_a[0] * scale_b[0];
  let c_at = P.c_at + s * P.M * C_ROW;
  // @for direct in DIRECT
  if (m0 + BM <= P.M && n0 + BN <= P.N) {
    // @for i in FM
    // @for j in FN
    subgroupMatrixStore<row_major>(&C, c_at + (m0 + (sub_m + ${i}u) * 16u) * C_ROW + (n0 + (sub_n + ${j}u) * ${NB}u) / 4u, subgroupMatrixScalarMultiply(c${i}_${j}, scale), C_ROW);
    // @end
    // @end
    return;
  }
  // @end
  // @for through in THROUGH
  let out = subgroup * 16u * OUT_ROW;
  // @for i in FM
  {
    // What is added to is asked for first, so that it comes while the sums go through workgroup memory.
    // @for q in OUT_LOADS
    let out_at${q} = lane + ${q}u * 32u;
    let out_m${q} = m0 + (sub_m + ${i}u) * 16u + out_at${q} / OUT_VECS;
    let out_n${q} = n0 + sub_n * ${NB}u + out_at${q} % OUT_VECS * 4u;
    let inside${q} = out_m${q} < P.M && out_n${q} < P.N;
    let to${q} = c_at + out_m${q} * C_ROW + out_n${q} / 4u;
    var old${q}: vec4f;
    // @for once in ADDS
    if (inside${q}) { old${q} = C[to${q}]; }
    // @end
    // @end
    // @for j in FN
    subgroupMatrixStore<row_major>(&tiles, out + ${j}u * ${NB}u / 4u, c${i}_${j}, OUT_ROW);
    // @end
    workgroupBarrier();
    // @for q in OUT_LOADS
    if (inside${q}) {
      let value = scale * bitcast<vec4f>(tiles[out + out_at${q} / OUT_VECS * OUT_ROW + out_at${q} % OUT_VECS]);
      C[to${q}] = old${q} + value;
    }
    // @end
    workgroupBarrier();
  }
  // @end
  // @end
}
