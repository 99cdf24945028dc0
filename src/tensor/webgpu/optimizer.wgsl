struct Params {
  base: u32,
  // adamw: vec4s of each parameter. sum_squares: values, threads, and where the threads' sums begin.
  count_0: u32, count_1: u32, count_2: u32, count_3: u32,
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
// adamw: vec4s of up to four parameters; the last one may reach into the padding.
@group(0) @binding(1) var<storage, read> g0: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> p0: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> m0: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> v0: array<vec4f>;
@group(0) @binding(5) var<storage, read> g1: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> p1: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> m1: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> v1: array<vec4f>;
@group(0) @binding(9) var<storage, read> g2: array<vec4f>;
@group(0) @binding(10) var<storage, read_write> p2: array<vec4f>;
@group(0) @binding(11) var<storage, read_write> m2: array<vec4f>;
@group(0) @binding(12) var<storage, read_write> v2: array<vec4f>;
@group(0) @binding(13) var<storage, read> g3: array<vec4f>;
@group(0) @binding(14) var<storage, read_write> p3: array<vec4f>;
@group(0) @binding(15) var<storage, read_write> m3: array<vec4f>;
@group(0) @binding(16) var<storage, read_write> v3: array<vec4f>;

// parts[at + t] = Σ x[i]² over the vec4s t, t + threads, … What the last one has beyond `count` means nothing.
@compute @workgroup_size(64)
fn sum_squares(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  if (thread >= P.count_1) { return; }
  var sum = 0.0;
  for (var i = thread; i < P.count_0 / 4u; i += P.count_1) { sum += dot(x[i], x[i]); }
  if (thread == 0u && P.count_0 % 4u != 0u) {
    let last = x[P.count_0 / 4u];
    for (var i = 0u; i < P.count_0 % 4u; i++) { sum += last[i] * last[i]; }
  }
  parts[P.count_2 + thread] = sum;
}

@compute @workgroup_size(64)
fn adamw(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  var i = group_number(P.base, workgroup, groups) * 64u + local;
  // @for n in TENSORS
  if (i < P.count_${n}) {
    let slope = g${n}[i] * P.grad_scale;
    let mean = P.beta1 * m${n}[i] + P.one_minus_beta1 * slope;
    let square = P.beta2 * v${n}[i] + P.one_minus_beta2 * slope * slope;
    m${n}[i] = mean;
    v${n}[i] = square;
    p${n}[i] = p${n}[i] * P.decay - P.rate * mean / (sqrt(square) / P.correction + P.epsilon);
    return;
  }
  i -= P.count_${n};
  // @end
}
