// Stands before each of the three passes by the matrix units: directives, sizes of tiles, and the units' types.
enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);

const D8 = ${D}u / 8u;
const BK = ${BK}u;
const ROWS = ${ROWS}u;
const THREADS = ${THREADS}u;
// Padded rows of tiles, in vec4s: an odd number of 16 bytes keeps eight neighbouring rows in different banks.
const TILE = D8 + 1u;
const SCORE = BK / 4u + 1u;
const WEIGHT = BK / 8u + 1u;
// Threads per row of scores, and columns each.
const SHARE = THREADS / ROWS;
const WIDTH = BK / SHARE;
// Rows of a tile that all threads load at once.
const STEP = THREADS / D8;

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;

fn tile_count(keys: vec2u) -> u32 { return (max(keys.y, keys.x) - keys.x + BK - 1u) / BK; }

// First key of tile t, and the end of the keys that it is cut from: those of the prefix, then the rows' own.
fn tile_at(t: u32, bounds: vec4u, prefix_tiles: u32) -> vec2u {
  let own = vec2u(bounds.z + (t - prefix_tiles) * BK, bounds.w);
  return select(vec2u(bounds.x + t * BK, bounds.y), own, t >= prefix_tiles);
}
