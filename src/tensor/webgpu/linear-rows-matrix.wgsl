enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
// Offsets of fragments depend on the subgroup's number alone, which the analysis does not know to be uniform.
diagnostic(off, chromium.subgroup_matrix_uniformity);
// y[m, n] = row_scale[m] · scale · Σ_k x[m, k] · w[n, k] for up to ${FM} · 16 rows of x in f16 (rows-half.wgsl), by subgroup
// matrices straight from storage: a workgroup has ${FN} · 16 rows of w, its ${SUBGROUPS} subgroups take turns along k.
struct Params {
  base: u32,
  // Rows of x.
  M: u32,
  // First column of y, and values of its rows.
  first: u32, row: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> row_scale: array<f32>;
@group(0) @binding(4) var<storage, read> scale: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

const SUBGROUPS = ${SUBGROUPS}u;
// 16 bytes per row of x and w, and steps of 16 k; known when the text is compiled.
const ROW = ${ROW}u;
const STEPS = ROW / 2u;
const COLUMNS = ${FN}u * 16u;
const FRAGMENTS = ${FM}u * ${FN}u;
var<workgroup> sums: array<f32, SUBGROUPS * FRAGMENTS * 256u>;

@compute @workgroup_size(SUBGROUPS * 32u)
fn linear_rows_matrix(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let n0 = group_number(P.base, workgroup, groups) * COLUMNS;
  let subgroup = local / 32u;
  // @for i in FM
  // @for j in FN
  var c${i}_${j}: subgroup_matrix_result<f32, 16, 16>;
  // @end
  // @end
  for (var step = subgroup; step < STEPS; step += SUBGROUPS * ${ROUNDS}u) {
    // @for u in ROUNDS
    // @for j in FN
    let b${u}_${j} = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&w, (n0 + ${j}u * 16u) * ROW + (step + ${u}u * SUBGROUPS) * 2u, ROW);
    // @end
    // @end
    // @for u in ROUNDS
    // @for i in FM
    {
      let a = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&x, ${i}u * 16u * ROW + (step + ${u}u * SUBGROUPS) * 2u, ROW);
      // @for j in FN
      c${i}_${j} = subgroupMatrixMultiplyAccumulate(a, b${u}_${j}, c${i}_${j});
      // @end
    }
    // @end
    // @end
  }
  // @for i in FM
  // @for j in FN
  subgroupMatrixStore<row_major>(&sums, (subgroup * FRAGMENTS) * 256u + ${i}u * 16u * COLUMNS + ${j}u * 16u, c${i}_${j}, COLUMNS);
  // @end
  // @end
  workgroupBarrier();
  for (var at = local; at < P.M * COLUMNS; at += SUBGROUPS * 32u) {
    var total = 0.0;
    for (var s = 0u; s < SUBGROUPS; s++) { total += sums[s * FRAGMENTS * 256u + at]; }
    let m = at / COLUMNS;
    y[m * P.row + P.first + n0 + at % COLUMNS] = row_scale[m] * scale[0] * total;
  }
}
