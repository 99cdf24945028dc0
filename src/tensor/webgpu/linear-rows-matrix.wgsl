enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
// Offsets of fragments depend on the subgroup's number alone, which the analysis does not know to be uniform.
diagnostic(off, chromium.subgroup_matrix_uniformity);
// parts[s, m, n] = Σ_k x[m, k] · w[n, k] over part s of k, for up to ${FM} · 16 rows of x in f16 (rows-half.wgsl) and the
// columns of ${JOINED} weights side by side, by subgroup matrices. A workgroup has 64 columns, each of its four subgroups 16.
// It goes through its part by 64 k at a time: parts are many and short, so that several workgroups on a multiprocessor hide
// each other's loads. Straight from storage, fragments would be read in pieces of four bytes. `linear_rows_sum` adds up the
// parts.
struct Params {
  base: u32,
  // Steps along k: all, and those of a part.
  steps: u32, part: u32,
  // Columns here, workgroups side by side along them, and where the columns begin in a row of `parts`.
  columns: u32, tiles: u32, at: u32,
  // @for j in JOINED
  // First column of the weight, a multiple of 64.
  first${j}: u32,
  // @end
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> parts: array<f32>;
// @for j in JOINED
@group(0) @binding(3 + ${j}) var<storage, read> w${j}: array<vec4<u32>>;
// @end

// 16 bytes per row of x and w, and values per row of `parts`; known when the text is compiled.
const ROW = ${ROW}u;
const PARTS_ROW = ${PARTS_ROW}u;
const X_ROWS = ${FM}u * 16u;
const COLUMNS = 64u;
// 16 bytes per row of a step, and of a tile in workgroup memory: one more, against bank conflicts.
const STEP = 8u;
const TILE_ROW = STEP + 1u;
const W_AT = X_ROWS * TILE_ROW;
var<workgroup> tiles: array<vec4<u32>, (X_ROWS + COLUMNS) * TILE_ROW>;

@compute @workgroup_size(128)
fn linear_rows_matrix(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let group = group_number(P.base, workgroup, groups);
  let s = group / P.tiles;
  let n0 = group % P.tiles * COLUMNS;
  var weight = 0u;
  var first = 0u;
  // @for j in JOINED
  if (n0 >= P.first${j}) {
    weight = ${j}u;
    first = P.first${j};
  }
  // @end
  // Eight neighbouring threads read a row of a step; rows past the last are read from it, and stored nowhere.
  let row = local / STEP;
  let chunk = local % STEP;
  let last = P.columns - 1u - first;
  let subgroup = local / 32u;
  // @for i in FM
  var c${i}: subgroup_matrix_result<f32, 16, 16>;
  // @end
  let end = min(P.steps, (s + 1u) * P.part);
  for (var step = s * P.part; step < end; step++) {
    let at = step * STEP + chunk;
    // @for q in 4
    var w_load${q}: vec4<u32>;
    // @end
    // @for j in JOINED
    if (weight == ${j}u) {
      // @for q in 4
      w_load${q} = w${j}[min(n0 - first + row + ${q}u * 16u, last) * ROW + at];
      // @end
    }
    // @end
    // @for q in FM
    let x_load${q} = x[(row + ${q}u * 16u) * ROW + at];
    // @end
    // @for q in 4
    tiles[W_AT + (row + ${q}u * 16u) * TILE_ROW + chunk] = w_load${q};
    // @end
    // @for q in FM
    tiles[(row + ${q}u * 16u) * TILE_ROW + chunk] = x_load${q};
    // @end
    workgroupBarrier();
    // @for d in 4
    {
      let b = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tiles, W_AT + subgroup * 16u * TILE_ROW + ${d}u * 2u, TILE_ROW);
      // @for i in FM
      let a${i} = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tiles, ${i}u * 16u * TILE_ROW + ${d}u * 2u, TILE_ROW);
      c${i} = subgroupMatrixMultiplyAccumulate(a${i}, b, c${i});
      // @end
    }
    // @end
    workgroupBarrier();
  }
  let n = n0 + subgroup * 16u;
  if (n < P.columns) {
    // @for i in FM
    subgroupMatrixStore<row_major>(&parts, (s * X_ROWS + ${i}u * 16u) * PARTS_ROW + P.at + n, c${i}, PARTS_ROW);
    // @end
  }
}
