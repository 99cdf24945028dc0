// C[m, n] = Σ_k A[m, k] · B[n, k], both with k contiguous (K a multiple of 4). No shared memory and no barriers: a thread
// holds a tile of ${RM} × ${RN} values of C and reads four values of k at a time.

const RM = ${RM}u;
const RN = ${RN}u;

@compute @workgroup_size(${GROUP})
fn matmul_tile_nt(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let tiles_m = (P.M + RM - 1u) / RM;
  let m = thread % tiles_m * RM;
  let n = thread / tiles_m * RN;
  if (n >= P.N) { return; }
  // Rows past the edge repeat the last one; their results are not stored.
  // @for i in RM
  let a_row${i} = P.a_at + min(m + ${i}u, P.M - 1u) * P.a_row;
  // @end
  // @for j in RN
  let b_row${j} = P.b_at + min(n + ${j}u, P.N - 1u) * P.b_row;
  // @end
  // @for i in RM
  // @for j in RN
  var c${i}_${j} = 0.0;
  // @end
  // @end
  let scale = product_scale();
  for (var k = 0u; k < P.K / 4u; k++) {
    // @for i in RM
    let a${i} = a_values(a_row${i} + k);
    // @end
    // @for j in RN
    let b${j} = b_values(b_row${j} + k);
    // @for i in RM
    c${i}_${j} += dot(a${i}, b${j});
    // @end
    // @end
  }
  // @for i in RM
  if (m + ${i}u < P.M) {
    let row = P.c_at + (m + ${i}u) * P.c_row + n;
    // @for j in RN
    if (n + ${j}u < P.N) { C[row + ${j}u] = scale * c${i}_${j}; }
    // @end
  }
  // @end
}
