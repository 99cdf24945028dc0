${F16}
enable subgroups;
// Whether a thread has values left differs between threads; that all of them take part in the sums does not.
diagnostic(off, subgroup_uniformity);
// y[m, n] = Σ_k x[m, k] · w[n, k] for few rows of x, as in decoding: reading the weights, as they are stored, is what takes
// time. With two weights y = silu of the first product times the second. A workgroup has a share of ${M} rows of x, a
// subgroup ${R} rows of w, a thread eight neighbouring values of each at a time.
struct Params {
  base: u32,
  // Rows of w, and eights of values in a row.
  N: u32, eights: u32,
  // From a row of w to the next: words of int8 and int4, eights of values of the other formats.
  step: u32,
  // First column of y, and values of its rows.
  first: u32, row: u32,
  // Rows of x, and shares of them.
  rows: u32, shares: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
// Each weight is followed by its scale, if it has one.
@group(0) @binding(3) var<storage, read> w0: array<vec4u>;
@group(0) @binding(4) var<storage, read> scale0: array<f32>;
@group(0) @binding(${SECOND}) var<storage, read> w1: array<vec4u>;
@group(0) @binding(6) var<storage, read> scale1: array<f32>;
// int8, int4
@group(0) @binding(3) var<storage, read> words0: array<u32>;
@group(0) @binding(${SECOND}) var<storage, read> words1: array<u32>;

const LANES = ${LANES}u;
const SUBGROUPS = ${SUBGROUPS}u;
// Rounds whose weights are asked for before the first is used.
const ROUNDS = ${ROUNDS}u;
// Of int8 and int4: eights of values in a group, and words of its block.
const EIGHTS = ${EIGHTS}u;
const BLOCK = ${BLOCK}u;

struct Eight { a: vec4f, b: vec4f }
${TYPED}
// @for p in WEIGHTS
fn eight${p}_f32(row: u32, e: u32) -> Eight {
  let i = 2u * (row + e);
  return Eight(bitcast<vec4f>(w${p}[i]), bitcast<vec4f>(w${p}[i + 1u]));
}

fn eight${p}_bf16(row: u32, e: u32) -> Eight {
  let q = w${p}[row + e];
  return Eight(bf16_values(q.xy), bf16_values(q.zw));
}

fn eight${p}_f16(row: u32, e: u32) -> Eight {
  let q = w${p}[row + e];
  return Eight(${HALF}_values(q.xy), ${HALF}_values(q.zw));
}

fn eight${p}_int8(row: u32, e: u32) -> Eight {
  let head = row + e / EIGHTS * BLOCK;
  let at = head + 1u + e % EIGHTS * 2u;
  return Eight(int8_values(words${p}[head], words${p}[at]), int8_values(words${p}[head], words${p}[at + 1u]));
}

fn eight${p}_int4(row: u32, e: u32) -> Eight {
  let head = row + e / EIGHTS * BLOCK;
  let q = words${p}[head + 1u + e % EIGHTS];
  return Eight(int4_values(words${p}[head], q), int4_values(words${p}[head], q >> 16u));
}

fn scaled${p}() -> f32 { return scale${p}[0]; }
fn plain${p}() -> f32 { return 1.0; }
// @end

@compute @workgroup_size(LANES * SUBGROUPS)
fn linear_rows(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  // Workgroups with the same rows of w follow each other: all but the first find them in a cache.
  let group = group_number(P.base, workgroup, groups);
  let n0 = (group / P.shares * SUBGROUPS + local / LANES) * ${R}u;
  let lane = local % LANES;
  // A last share that would go past the end begins earlier. The rows that it has twice are those of the share before it.
  let own = group % P.shares * ${M}u;
  let m0 = min(own, P.rows - ${M}u);
  // @for r in R
  let row${r} = min(n0 + ${r}u, P.N - 1u) * P.step;
  // @for p in WEIGHTS
  // @for m in M
  var sum${p}_${r}_${m} = 0.0;
  // @end
  // @end
  // @end
  for (var at = lane; at < P.eights; at += LANES * ROUNDS) {
    // @for u in ROUNDS
    // @for r in R
    // @for p in WEIGHTS
    let v${p}_${r}_${u} = eight${p}_${FORMAT}(row${r}, at + ${u}u * LANES);
    // @end
    // @end
    // @end
    // @for u in ROUNDS
    // @for m in M
    {
      let i = 2u * ((m0 + ${m}u) * P.eights + at + ${u}u * LANES);
      let a = x[i];
      let b = x[i + 1u];
      // @for r in R
      // @for p in WEIGHTS
      sum${p}_${r}_${m} += dot(v${p}_${r}_${u}.a, a) + dot(v${p}_${r}_${u}.b, b);
      // @end
      // @end
    }
    // @end
    // @end
  }
  // @for r in R
  // @for m in M
  {
    // @for p in WEIGHTS
    let total${p} = ${SCALE}${p}() * subgroupAdd(sum${p}_${r}_${m});
    // @end
    let m = m0 + ${m}u;
    if (lane == 0u && n0 + ${r}u < P.N && m >= own) { y[m * P.row + P.first + n0 + ${r}u] = ${RESULT}; }
  }
  // @end
  // @end
}
