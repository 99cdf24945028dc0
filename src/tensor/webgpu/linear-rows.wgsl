${F16}
enable subgroups;
// Whether a thread has values left differs between threads; that all of them take part in the sums does not.
diagnostic(off, subgroup_uniformity);
// y[m, n] = Σ_k x[m, k] · w[n, k] for ${M} rows of x, as in decoding: every weight is read once, and reading it is all that
// takes time. With two weights y = silu of the first product times the second. A subgroup has ${R} rows of w, a thread eight
// neighbouring values of each at a time.
struct Params {
  base: u32,
  // Rows of w, and eights of values in a row.
  N: u32, eights: u32,
  // First column of y, and values of its rows.
  first: u32, row: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
// Each weight is followed by its scale, if it has one.
@group(0) @binding(3) var<storage, read> w0: array<vec4u>;
@group(0) @binding(4) var<storage, read> scale0: array<f32>;
@group(0) @binding(${SECOND}) var<storage, read> w1: array<vec4u>;
@group(0) @binding(6) var<storage, read> scale1: array<f32>;

const LANES = ${LANES}u;
const SUBGROUPS = ${SUBGROUPS}u;
// Rounds whose weights are asked for before the first is used.
const ROUNDS = ${ROUNDS}u;

struct Eight { a: vec4f, b: vec4f }
${HALVES}
// @for p in WEIGHTS
fn eight${p}_f32(i: u32) -> Eight { return Eight(bitcast<vec4f>(w${p}[2u * i]), bitcast<vec4f>(w${p}[2u * i + 1u])); }

fn eight${p}_bf16(i: u32) -> Eight {
  let q = w${p}[i];
  let low = bitcast<vec4f>(q << vec4u(16u));
  let high = bitcast<vec4f>(q & vec4u(0xffff0000u));
  return Eight(vec4f(low.x, high.x, low.y, high.y), vec4f(low.z, high.z, low.w, high.w));
}

fn eight${p}_f16(i: u32) -> Eight {
  let q = w${p}[i];
  return Eight(vec4f(halves(q.x), halves(q.y)), vec4f(halves(q.z), halves(q.w)));
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
  let n0 = (group_number(P.base, workgroup, groups) * SUBGROUPS + local / LANES) * ${R}u;
  let lane = local % LANES;
  // @for r in R
  let row${r} = min(n0 + ${r}u, P.N - 1u) * P.eights;
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
    let v${p}_${r}_${u} = eight${p}_${FORMAT}(row${r} + at + ${u}u * LANES);
    // @end
    // @end
    // @end
    // @for u in ROUNDS
    // @for m in M
    {
      let i = 2u * (${m}u * P.eights + at + ${u}u * LANES);
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
    if (lane == 0u && n0 + ${r}u < P.N) { y[${m}u * P.row + P.first + n0 + ${r}u] = ${RESULT}; }
  }
  // @end
  // @end
}
