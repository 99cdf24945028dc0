struct Params {
  base: u32,
  count: u32,
  // sum_squares: threads, and where their sums begin.
  threads: u32, at: u32,
  // adamw
  grad_scale: f32,
  beta1: f32, one_minus_beta1: f32,
  beta2: f32, one_minus_beta2: f32,
  // 1 − lr·wd, lr / (1 − β1ⁿ), √(1 − β2ⁿ)
  decay: f32, rate: f32, correction: f32,
  epsilon: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> parts: array<f32>;
// adamw: vec4s; the last one may reach into the padding.
@group(0) @binding(1) var<storage, read> g: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> p: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> m: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> v: array<vec4f>;

// parts[at + t] = Σ x[i]² over the vec4s t, t + threads, … What the last one has beyond `count` means nothing.
@compute @workgroup_size(64)
fn sum_squares(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  if (thread >= P.threads) { return; }
  var sum = 0.0;
  for (var i = thread; i < P.count / 4u; i += P.threads) { sum += dot(x[i], x[i]); }
  if (thread == 0u && P.count % 4u != 0u) {
    let last = x[P.count / 4u];
    for (var i = 0u; i < P.count % 4u; i++) { sum += last[i] * last[i]; }
  }
  parts[P.at + thread] = sum;
}

@compute @workgroup_size(64)
fn adamw(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i >= P.count) { return; }
  let slope = g[i] * P.grad_scale;
  let mean = P.beta1 * m[i] + P.one_minus_beta1 * slope;
  let square = P.beta2 * v[i] + P.one_minus_beta2 * slope * slope;
  m[i] = mean;
  v[i] = square;
  p[i] = p[i] * P.decay - P.rate * mean / (sqrt(square) / P.correction + P.epsilon);
}
