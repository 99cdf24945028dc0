// C[s, m, n] = Σ_k A(m, k) · B(k, n) over part s of k, through tiles in shared memory: 16 × 16 threads hold ${BM} × ${BN}
// values of C and go through k by 16, loading the next tiles while they multiply. Where A_K (B_K) is 1, k is contiguous
// in A (B), and its rows are whole vec4s; where it is 0, m (n) is. B_K needs A_K. If both have k contiguous, K is a
// multiple of 4; if only A has, A holds zeros up to the next one.

const BM = ${BM}u;
const BN = ${BN}u;
const BK = 16u;
const THREADS = 256u;
const A_K = ${A_K}u == 1u;
const B_K = ${B_K}u == 1u;
// One vec4 of padding a row spreads the transposing stores over the banks.
const A_ROW = BM / 4u + 1u;
const B_ROW = BN / 4u + 1u;
// Tiles with k outermost, so that a thread reads four neighbours of m (n) at once.
var<workgroup> tile_a: array<vec4f, BK * A_ROW>;
var<workgroup> tile_b: array<vec4f, BK * B_ROW>;

// What a thread loads of both tiles: x of A, y of B. Where k is contiguous, 4 rows by 4 values of k, to be transposed; if
// it is in both, the first BM threads load x of A and the last BN, which have nothing of A, x of B.
struct Loads {
  x0: vec4f, x1: vec4f, x2: vec4f, x3: vec4f,
  y0: vec4f, y1: vec4f,
}

fn load_a(row: u32, k4: u32, end: u32) -> vec4f {
  if (row >= P.M || k4 * 4u >= end) { return vec4f(); }
  return a_values(P.a_at + row * P.a_row + k4);
}

fn load_b(row: u32, k4: u32, end: u32) -> vec4f {
  if (row >= P.N || k4 * 4u >= end) { return vec4f(); }
  return b_values(P.b_at + row * P.b_row + k4);
}

// This thread's share of the tiles that begin at k0.
fn load(m0: u32, n0: u32, k0: u32, end: u32, local: u32) -> Loads {
  var loads: Loads;
  if (A_K) {
    if (local < BM) {
      let row = m0 + local / 4u * 4u;
      let k4 = k0 / 4u + local % 4u;
      // @for r in 4
      loads.x${r} = load_a(row + ${r}u, k4, end);
      // @end
    }
  } else {
    // @for r in TM4
    {
      let at = local + ${r}u * THREADS;
      let k = k0 + at / (BM / 4u);
      let m4 = at % (BM / 4u);
      if (k < end && m0 + m4 * 4u < P.M) { loads.x${r} = a_values(P.a_at + k * P.a_row + m0 / 4u + m4); }
    }
    // @end
  }
  if (B_K) {
    let back = THREADS - 1u - local;
    if (back < BN) {
      let row = n0 + back / 4u * 4u;
      let k4 = k0 / 4u + back % 4u;
      // @for r in 4
      loads.x${r} = load_b(row + ${r}u, k4, end);
      // @end
    }
  } else {
    // @for r in TN4
    {
      let at = local + ${r}u * THREADS;
      let k = k0 + at / (BN / 4u);
      let n4 = at % (BN / 4u);
      if (k < end && n0 + n4 * 4u < P.N) { loads.y${r} = b_values(P.b_at + k * P.b_row + n0 / 4u + n4); }
    }
    // @end
  }
  return loads;
}

fn store(loads: Loads, local: u32) {
  if (A_K) {
    if (local < BM) {
      let to = local % 4u * 4u * A_ROW + local / 4u;
      // @for q in 4
      tile_a[to + ${q}u * A_ROW] = vec4f(loads.x0[${q}], loads.x1[${q}], loads.x2[${q}], loads.x3[${q}]);
      // @end
    }
  } else {
    // @for r in TM4
    tile_a[(local + ${r}u * THREADS) / (BM / 4u) * A_ROW + (local + ${r}u * THREADS) % (BM / 4u)] = loads.x${r};
    // @end
  }
  if (B_K) {
    let back = THREADS - 1u - local;
    if (back < BN) {
      let to = back % 4u * 4u * B_ROW + back / 4u;
      // @for q in 4
      tile_b[to + ${q}u * B_ROW] = vec4f(loads.x0[${q}], loads.x1[${q}], loads.x2[${q}], loads.x3[${q}]);
      // @end
    }
  } else {
    // @for r in TN4
    tile_b[(local + ${r}u * THREADS) / (BN / 4u) * B_ROW + (local + ${r}u * THREADS) % (BN / 4u)] = loads.y${r};
    // @end
  }
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
  var loads = load(m0, n0, begin, end, local);
  for (var k0 = begin; k0 < end; k0 += BK) {
    store(loads, local);
    workgroupBarrier();
    if (k0 + BK < end) { loads = load(m0, n0, k0 + BK, end, local); }
    for (var k = 0u; k < BK; k += ${UNROLL}u) {
      // @for u in UNROLL
      {
        // @for i in TM4
        let a${i} = tile_a[(k + ${u}u) * A_ROW + ${i}u * 16u + ty];
        // @end
        // @for j in TN4
        let b${j} = tile_b[(k + ${u}u) * B_ROW + ${j}u * 16u + tx];
        // @for i in TM4
        // @for q in 4
        c${i}_${q}_${j} += a${i}[${q}] * b${j};
        // @end
        // @end
        // @end
      }
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
