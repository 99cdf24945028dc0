${F16}
enable subgroups;
// Whether a thread has values left differs between threads; that all of them take part in the sums does not.
diagnostic(off, subgroup_uniformity);
// y[m, n] = Σ_k x[m, k] · w[n, k] for few rows of x, as in decoding: reading the weights, as they are stored, is what takes
// time. The columns of ${JOINED} weights lie side by side in y; or, with a pair of weights, y = silu of the first product times
// the second. x may be normed on the way: since a subgroup sees whole rows of it, their rstd costs no pass of its own. A
// workgroup has a share of ${M} rows of x, ${SPLIT} of its subgroups together ${R} rows of w, a thread eight neighbouring values
// of each at a time.
struct Params {
  base: u32,
  // Eights of values in a row of x and w.
  eights: u32,
  // From a row of w to the next: words of int8 and int4, eights of values of the other formats.
  step: u32,
  // Values of a row of y.
  row: u32,
  // Rows of x, and shares of them.
  rows: u32, shares: u32,
  // @for j in JOINED
  // Rows of the weight, and its first column of y.
  count${j}: u32, first${j}: u32,
  // @end
  eps: f32,
  // Added to the norm's weights.
  offset: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
// Each weight is followed by its scale, if it has one.
// @for j in JOINED
// @for p in WEIGHTS
@group(0) @binding(3 + (${j} + ${p}) * ${BINDINGS}) var<storage, read> w${j}${p}: array<vec4u>;
@group(0) @binding(4 + (${j} + ${p}) * ${BINDINGS}) var<storage, read> scale${j}${p}: array<f32>;
// int8, int4
@group(0) @binding(3 + (${j} + ${p}) * ${BINDINGS}) var<storage, read> words${j}${p}: array<u32>;
// @end
// @end
@group(0) @binding(${NORM_AT}) var<storage, read> norm: array<vec4f>;

const LANES = ${LANES}u;
const SUBGROUPS = ${SUBGROUPS}u;
// Rounds whose weights are asked for before the first is used.
const ROUNDS = ${ROUNDS}u;
// Of int8 and int4: eights of values in a group, and words of its block.
const EIGHTS = ${EIGHTS}u;
const BLOCK = ${BLOCK}u;
// Subgroups that share rows of w, each every SPLIT-th piece of them, and the sums that each of them finds.
const SPLIT = ${SPLIT}u;
const SUMS = ${M}u * (${R}u * ${WEIGHTS}u + ${NORMED}u);
// @for once in SHARED
var<workgroup> found: array<f32, SUBGROUPS * SUMS>;
// @end

struct Eight { a: vec4f, b: vec4f }
${TYPED}

// @for j in JOINED
// @for p in WEIGHTS
fn eight${j}${p}_f32(row: u32, e: u32) -> Eight {
  let i = 2u * (row + e);
  return Eight(bitcast<vec4f>(w${j}${p}[i]), bitcast<vec4f>(w${j}${p}[i + 1u]));
}

fn eight${j}${p}_bf16(row: u32, e: u32) -> Eight {
  let q = w${j}${p}[row + e];
  return Eight(bf16_values(q.xy), bf16_values(q.zw));
}

fn eight${j}${p}_f16(row: u32, e: u32) -> Eight {
  let q = w${j}${p}[row + e];
  return Eight(${HALF}_values(q.xy), ${HALF}_values(q.zw));
}

fn eight${j}${p}_int8(row: u32, e: u32) -> Eight {
  let head = row + e / EIGHTS * BLOCK;
  let at = head + 1u + e % EIGHTS * 2u;
  let h = words${j}${p}[head];
  return Eight(int8_values(h, words${j}${p}[at]), int8_values(h, words${j}${p}[at + 1u]));
}

fn eight${j}${p}_int4(row: u32, e: u32) -> Eight {
  let head = row + e / EIGHTS * BLOCK;
  let q = words${j}${p}[head + 1u + e % EIGHTS];
  return Eight(int4_values(words${j}${p}[head], q), int4_values(words${j}${p}[head], q >> 16u));
}

fn scaled${j}${p}() -> f32 { return scale${j}${p}[0]; }
fn unscaled${j}${p}() -> f32 { return 1.0; }
// @end

// Rows n0, … of weight ${j}, and rows of x from m0 on, of which those before `own` are another share's.
fn multiply${j}(n0: u32, m0: u32, own: u32, subgroup: u32, lane: u32) {
  // @for r in R
  let row${r} = min(n0 + ${r}u, P.count${j} - 1u) * P.step;
  // @for p in WEIGHTS
  // @for m in M
  var sum${p}_${r}_${m} = 0.0;
  // @end
  // @end
  // @end
  // @for m in M
  // @for once in NORMED
  var squares${m} = 0.0;
  // @end
  // @end
  for (var at = subgroup % SPLIT * LANES * ROUNDS + lane; at < P.eights; at += SPLIT * LANES * ROUNDS) {
    // @for u in ROUNDS
    // @for r in R
    // @for p in WEIGHTS
    let v${p}_${r}_${u} = eight${j}${p}_${FORMAT}(row${r}, at + ${u}u * LANES);
    // @end
    // @end
    // @end
    // @for u in ROUNDS
    {
      let e = at + ${u}u * LANES;
      // @for once in NORMED
      let norm_a = norm[2u * e] + P.offset;
      let norm_b = norm[2u * e + 1u] + P.offset;
      // @end
      // @for m in M
      {
        let i = 2u * ((m0 + ${m}u) * P.eights + e);
        var a = x[i];
        var b = x[i + 1u];
        // @for once in NORMED
        squares${m} += dot(a, a) + dot(b, b);
        a *= norm_a;
        b *= norm_b;
        // @end
        // @for r in R
        // @for p in WEIGHTS
        sum${p}_${r}_${m} += dot(v${p}_${r}_${u}.a, a) + dot(v${p}_${r}_${u}.b, b);
        // @end
        // @end
      }
      // @end
    }
    // @end
  }
  // @for m in M
  // @for r in R
  // @for p in WEIGHTS
  sum${p}_${r}_${m} = subgroupAdd(sum${p}_${r}_${m});
  // @end
  // @end
  // @for once in NORMED
  squares${m} = subgroupAdd(squares${m});
  // @end
  // @end
  // @for once in SHARED
  if (lane == 0u) {
    // @for m in M
    // @for r in R
    // @for p in WEIGHTS
    found[subgroup * SUMS + (${m}u * ${R}u + ${r}u) * ${WEIGHTS}u + ${p}u] = sum${p}_${r}_${m};
    // @end
    // @end
    // @for once in NORMED
    found[subgroup * SUMS + ${M}u * ${R}u * ${WEIGHTS}u + ${m}u] = squares${m};
    // @end
    // @end
  }
  workgroupBarrier();
  for (var s = 1u; s < SPLIT; s++) {
    let other = (subgroup + s) % SUBGROUPS * SUMS;
    // @for m in M
    // @for r in R
    // @for p in WEIGHTS
    sum${p}_${r}_${m} += found[other + (${m}u * ${R}u + ${r}u) * ${WEIGHTS}u + ${p}u];
    // @end
    // @end
    // @for once in NORMED
    squares${m} += found[other + ${M}u * ${R}u * ${WEIGHTS}u + ${m}u];
    // @end
    // @end
  }
  // @end
  // The first of the subgroups that share rows stores what they found.
  if (lane > 0u || subgroup % SPLIT > 0u) { return; }
  // @for m in M
  {
    var factor = 1.0;
    // @for once in NORMED
    factor = inverseSqrt(squares${m} / f32(8u * P.eights) + P.eps);
    // @end
    let m = m0 + ${m}u;
    // @for r in R
    {
      // @for p in WEIGHTS
      let total${p} = factor * ${SCALE}${j}${p}() * sum${p}_${r}_${m};
      // @end
      let at = m * P.row + P.first${j} + n0 + ${r}u;
      if (n0 + ${r}u < P.count${j} && m >= own) { y[at] = ${RESULT}; }
    }
    // @end
  }
  // @end
}
// @end

@compute @workgroup_size(LANES * SUBGROUPS)
fn linear_rows(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  // Workgroups with the same rows of w follow each other: all but the first find them in a cache.
  let group = group_number(P.base, workgroup, groups);
  var block = group / P.shares;
  let subgroup = local / LANES;
  // A last share that would go past the end begins earlier. The rows that it has twice are those of the share before it.
  let own = group % P.shares * ${M}u;
  let m0 = min(own, P.rows - ${M}u);
  const ROWS = SUBGROUPS / SPLIT * ${R}u;
  // @for j in JOINED
  if (block * ROWS < P.count${j}) {
    multiply${j}(block * ROWS + subgroup / SPLIT * ${R}u, m0, own, subgroup, local % LANES);
    return;
  }
  block -= (P.count${j} + ROWS - 1u) / ROWS;
  // @end
}
