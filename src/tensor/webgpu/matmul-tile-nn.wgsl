// C[m, n] = Σ_k A[m, k] · B[k, n], A with k contiguous, B and C with n contiguous (rows of A and B are whole vec4s). No
// shared memory and no barriers: a thread holds a tile of ${RM} × 4·${RN4} values of C.
// K need not be a multiple of 4 as long as A holds zeros up to the next one: the last row of B is then read again.

const RM = ${RM}u;
const RN4 = ${RN4}u;

@compute @workgroup_size(${GROUP})
fn matmul_tile_nn(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let tiles_m = (P.M + RM - 1u) / RM;
  let m = thread % tiles_m * RM;
  let n4 = thread / tiles_m * RN4;
  if (n4 * 4u >= P.N) { return; }
  let last_n4 = (P.N - 1u) / 4u;
  // @for i in RM
  let a_row${i} = P.a_at + min(m + ${i}u, P.M - 1u) * P.a_row;
  // @for j in RN4
  var c${i}_${j} = vec4f();
  // @end
  // @end
  let scale = product_scale();
  for (var k = 0u; k < P.K; k += 4u) {
    // @for i in RM
    let a${i} = a_values(a_row${i} + k / 4u);
    // @end
    // @for s in 4
    {
      let b_row = P.b_at + min(k + ${s}u, P.K - 1u) * P.b_row;
      // @for j in RN4
      let b${j} = b_values(b_row + min(n4 + ${j}u, last_n4));
      // @for i in RM
      c${i}_${j} += a${i}[${s}] * b${j};
      // @end
      // @end
    }
    // @end
  }
  // @for i in RM
  if (m + ${i}u < P.M) {
    let row = P.c_at + (m + ${i}u) * P.c_row;
    // @for j in RN4
    // @for s in 4
    if ((n4 + ${j}u) * 4u + ${s}u < P.N) { C[row + (n4 + ${j}u) * 4u + ${s}u] = scale * c${i}_${j}[${s}]; }
    // @end
    // @end
  }
  // @end
}
