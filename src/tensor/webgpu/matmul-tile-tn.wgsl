// C[s, m, n] = Σ_k A[k, m] · B[k, n] over part s of k, m and n contiguous (rows of A and B are whole vec4s). No shared
// memory and no barriers: a thread holds a tile of 4·${RM4} × 4·${RN4} values of C. The parts are added by `sum_parts`.

const RM4 = ${RM4}u;
const RN4 = ${RN4}u;

@compute @workgroup_size(${GROUP})
fn matmul_tile_tn(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let last_m4 = (P.M - 1u) / 4u;
  let last_n4 = (P.N - 1u) / 4u;
  let tiles_m = last_m4 / RM4 + 1u;
  let tiles_n = last_n4 / RN4 + 1u;
  let m4 = thread % tiles_m * RM4;
  let n4 = thread / tiles_m % tiles_n * RN4;
  let s = thread / (tiles_m * tiles_n);
  if (s >= P.parts) { return; }
  // @for i in RM4
  let a_at${i} = P.a_at + min(m4 + ${i}u, last_m4);
  // @end
  // @for j in RN4
  let b_at${j} = P.b_at + min(n4 + ${j}u, last_n4);
  // @end
  // @for i in RM4
  // @for q in 4
  // @for j in RN4
  var c${i}_${q}_${j} = vec4f();
  // @end
  // @end
  // @end
  let end = min((s + 1u) * P.part, P.K);
  let scale = product_scale();
  for (var k = s * P.part; k < end; k++) {
    // @for i in RM4
    let a${i} = a_values(a_at${i} + k * P.a_row);
    // @end
    // @for j in RN4
    let b${j} = b_values(b_at${j} + k * P.b_row);
    // @for i in RM4
    // @for q in 4
    c${i}_${q}_${j} += a${i}[${q}] * b${j};
    // @end
    // @end
    // @end
  }
  let c_at = P.c_at + s * P.M * P.c_row;
  // @for i in RM4
  // @for q in 4
  if ((m4 + ${i}u) * 4u + ${q}u < P.M) {
    let row = c_at + ((m4 + ${i}u) * 4u + ${q}u) * P.c_row;
    // @for j in RN4
    // @for r in 4
    if ((n4 + ${j}u) * 4u + ${r}u < P.N) { C[row + (n4 + ${j}u) * 4u + ${r}u] = scale * c${i}_${q}_${j}[${r}]; }
    // @end
    // @end
  }
  // @end
  // @end
}
