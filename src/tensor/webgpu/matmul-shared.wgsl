// C[s, m, n] = Σ_k A(m, k) · B(k, n) over part s of k, through tiles in shared memory: 16 × 16 threads hold ${BM} × ${BN}
// values of C and go through k by 16. Where A_K (B_K) is 1, k is contiguous in A (B), and its rows are whole vec4s; where
// it is 0, m (n) is. If both have k contiguous, K is a multiple of 4; if only A has, A holds zeros up to the next one.

const BM = ${BM}u;
const BN = ${BN}u;
const BK = 16u;
const A_K = ${A_K}u == 1u;
const B_K = ${B_K}u == 1u;
// One vec4 of padding a row spreads the transposing stores over the banks.
const A_ROW = BM / 4u + 1u;
const B_ROW = BN / 4u + 1u;
// Tiles with k outermost, so that a thread reads four neighbours of m (n) at once.
var<workgroup> tile_a: array<vec4f, BK * A_ROW>;
var<workgroup> tile_b: array<vec4f, BK * B_ROW>;

fn load_a(row: u32, k4: u32, end: u32) -> vec4f {
  if (row >= P.M || k4 * 4u >= end) { return vec4f(); }
  return a_values(P.a_at + row * P.a_row + k4);
}

fn load_b(row: u32, k4: u32, end: u32) -> vec4f {
  if (row >= P.N || k4 * 4u >= end) { return vec4f(); }
  return b_values(P.b_at + row * P.b_row + k4);
}

@compute @workgroup_size(256)
fn matmul_shared(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let group = group_number(P.base, workgroup, groups);
  let tiles_n = (P.N + BN - 1u) / BN;
  let tiles_m = (P.M + BM - 1u) / BM;
  // Neighbouring workgroups share rows of A.
  let n0 = group % tiles_n * BN;
  let m0 = group / tiles_n % tiles_m * BM;
  let s = group / (tiles_n * tiles_m);
  if (s >= P.parts) { return; }
  let tx = local % 16u;
  let ty = local / 16u;
  // @for i in TM4
  // @for q in 4
  // @for j in TN4
  var c${i}_${q}_${j} = vec4f();
  // @end
  // @end
  // @end
  let begin = s * P.part;
  let end = min(begin + P.part, P.K);
  let scale = product_scale();
  for (var k0 = begin; k0 < end; k0 += BK) {
    if (A_K) {
      // A block of 4 rows by 4 values of k, transposed in registers.
      for (var block = local; block < BM; block += 256u) {
        let row = block / 4u * 4u;
        let k4 = k0 / 4u + block % 4u;
        let x = load_a(m0 + row, k4, end);
        let y = load_a(m0 + row + 1u, k4, end);
        let z = load_a(m0 + row + 2u, k4, end);
        let w = load_a(m0 + row + 3u, k4, end);
        let to = block % 4u * 4u * A_ROW + row / 4u;
        tile_a[to] = vec4f(x.x, y.x, z.x, w.x);
        tile_a[to + A_ROW] = vec4f(x.y, y.y, z.y, w.y);
        tile_a[to + 2u * A_ROW] = vec4f(x.z, y.z, z.z, w.z);
        tile_a[to + 3u * A_ROW] = vec4f(x.w, y.w, z.w, w.w);
      }
    } else {
      for (var at = local; at < BK * BM / 4u; at += 256u) {
        let k = at / (BM / 4u);
        let m4 = at % (BM / 4u);
        var value = vec4f();
        if (k0 + k < end && m0 + m4 * 4u < P.M) { value = a_values(P.a_at + (k0 + k) * P.a_row + m0 / 4u + m4); }
        tile_a[k * A_ROW + m4] = value;
      }
    }
    if (B_K) {
      // From the other end of the workgroup, whose threads had less to load of A.
      for (var block = 255u - local; block < BN; block += 256u) {
        let row = block / 4u * 4u;
        let k4 = k0 / 4u + block % 4u;
        let x = load_b(n0 + row, k4, end);
        let y = load_b(n0 + row + 1u, k4, end);
        let z = load_b(n0 + row + 2u, k4, end);
        let w = load_b(n0 + row + 3u, k4, end);
        let to = block % 4u * 4u * B_ROW + row / 4u;
        tile_b[to] = vec4f(x.x, y.x, z.x, w.x);
        tile_b[to + B_ROW] = vec4f(x.y, y.y, z.y, w.y);
        tile_b[to + 2u * B_ROW] = vec4f(x.z, y.z, z.z, w.z);
        tile_b[to + 3u * B_ROW] = vec4f(x.w, y.w, z.w, w.w);
      }
    } else {
      for (var at = local; at < BK * BN / 4u; at += 256u) {
        let k = at / (BN / 4u);
        let n4 = at % (BN / 4u);
        var value = vec4f();
        if (k0 + k < end && n0 + n4 * 4u < P.N) { value = b_values(P.b_at + (k0 + k) * P.b_row + n0 / 4u + n4); }
        tile_b[k * B_ROW + n4] = value;
      }
    }
    workgroupBarrier();
    for (var k = 0u; k < BK; k++) {
      // @for i in TM4
      let a${i} = tile_a[k * A_ROW + ${i}u * 16u + ty];
      // @end
      // @for j in TN4
      let b${j} = tile_b[k * B_ROW + ${j}u * 16u + tx];
      // @for i in TM4
      // @for q in 4
      c${i}_${q}_${j} += a${i}[${q}] * b${j};
      // @end
      // @end
      // @end
    }
    workgroupBarrier();
  }
  let c_at = P.c_at + s * P.M * P.c_row;
  // @for i in TM4
  // @for q in 4
  {
    let m = m0 + (${i}u * 16u + ty) * 4u + ${q}u;
    if (m < P.M) {
      let row = c_at + m * P.c_row;
      // @for j in TN4
      // @for r in 4
      {
        let n = n0 + (${j}u * 16u + tx) * 4u + ${r}u;
        if (n < P.N) { C[row + n] = scale * c${i}_${q}_${j}[${r}]; }
      }
      // @end
      // @end
    }
  }
  // @end
  // @end
}
