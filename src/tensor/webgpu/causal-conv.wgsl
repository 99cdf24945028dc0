// Depthwise causal convolution over time with ${K} taps, then SiLU; one value of one channel a thread.
struct Params {
  base: u32,
  tokens: u32, channels: u32,
  // Rows a part, in conv_weight.
  part: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
// u32: the first row of each row's sequence.
@group(0) @binding(3) var<storage, read> start: array<u32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;
// conv_slope
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> new_slope: array<f32>;
// conv_input
@group(0) @binding(1) var<storage, read> slope: array<f32>;
@group(0) @binding(3) var<storage, read> end: array<u32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;
// conv_weight
@group(0) @binding(2) var<storage, read> row_slope: array<f32>;
@group(0) @binding(4) var<storage, read_write> parts: array<f32>;

const K = ${K}u;

// The exponent is bounded: infinities are not portable.
fn sigmoid(x: f32) -> f32 { return 1.0 / (1.0 + exp(min(-x, 80.0))); }

// Σ_j w[c, j] x[t − K + 1 + j, c]
fn convolved(t: u32, c: u32) -> f32 {
  let first = start[t];
  var sum = 0.0;
  for (var j = 0u; j < K; j++) {
    let row = t + 1u + j;
    if (row >= first + K) { sum += w[c * K + j] * x[(row - K) * P.channels + c]; }
  }
  return sum;
}

@compute @workgroup_size(64)
fn conv_forward(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i >= P.tokens * P.channels) { return; }
  let sum = convolved(i / P.channels, i % P.channels);
  y[i] = sum * sigmoid(sum);
}

// The gradient before the SiLU: silu′(x) = σ(x) (1 + x (1 − σ(x)))
@compute @workgroup_size(64)
fn conv_slope(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i >= P.tokens * P.channels) { return; }
  let sum = convolved(i / P.channels, i % P.channels);
  let s = sigmoid(sum);
  new_slope[i] = dy[i] * s * (1.0 + sum * (1.0 - s));
}

// dx[t, c] = Σ_j w[c, j] slope[t + K − 1 − j, c]
@compute @workgroup_size(64)
fn conv_input(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i >= P.tokens * P.channels) { return; }
  let c = i % P.channels;
  let t = i / P.channels;
  let last = end[t];
  var sum = 0.0;
  for (var j = 0u; j < K; j++) {
    let row = t + K - 1u - j;
    if (row < last) { sum += w[c * K + j] * slope[row * P.channels + c]; }
  }
  dx[i] = sum;
}

// parts[s, c, j] = Σ_t slope[t, c] x[t − K + 1 + j, c] over the rows t of part s
@compute @workgroup_size(64)
fn conv_weight(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let begin = thread / P.channels * P.part;
  if (begin >= P.tokens) { return; }
  let c = thread % P.channels;
  // @for j in K
  var sum${j} = 0.0;
  // @end
  for (var t = begin; t < min(begin + P.part, P.tokens); t++) {
    let first = start[t] + K;
    let d = row_slope[t * P.channels + c];
    // @for j in K
    if (t + 1u + ${j}u >= first) { sum${j} += d * x[(t + 1u + ${j}u - K) * P.channels + c]; }
    // @end
  }
  // @for j in K
  parts[thread * K + ${j}u] = sum${j};
  // @end
}
