// C[m, n] = Σ_k A(m, k) · B(k, n) for sizes that are not whole vec4s: any strides, a value of C a thread.
struct Params {
  base: u32,
  M: u32, N: u32, K: u32,
  // First value, and the distance between neighbours of m (n) and of k, in values.
  a_at: u32, a_m: u32, a_k: u32,
  b_at: u32, b_n: u32, b_k: u32,
  c_at: u32, c_row: u32,
  accumulate: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> A: array<f32>;
@group(0) @binding(2) var<storage, read> B: array<f32>;
@group(0) @binding(3) var<storage, read_write> C: array<f32>;

@compute @workgroup_size(64)
fn matmul_scalar(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let m = thread / P.N;
  let n = thread % P.N;
  if (m >= P.M) { return; }
  var sum = 0.0;
  for (var k = 0u; k < P.K; k++) {
    sum += A[P.a_at + m * P.a_m + k * P.a_k] * B[P.b_at + n * P.b_n + k * P.b_k];
  }
  let at = P.c_at + m * P.c_row + n;
  if (P.accumulate == 1u) { sum += C[at]; }
  C[at] = sum;
}
