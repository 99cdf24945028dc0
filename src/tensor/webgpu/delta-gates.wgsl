// The gates of the gated delta rule; one head of one token a thread.
struct Params {
  base: u32,
  tokens: u32, heads: u32,
  // Rows a part, in gate_parts.
  part: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read> a_log: array<f32>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read_write> gates: array<vec2f>;
// gates_backward
@group(0) @binding(5) var<storage, read> dgates: array<vec2f>;
@group(0) @binding(6) var<storage, read_write> da: array<f32>;
@group(0) @binding(7) var<storage, read_write> db: array<f32>;
// gate_parts
@group(0) @binding(2) var<storage, read> slope: array<f32>;
@group(0) @binding(6) var<storage, read_write> log_parts: array<f32>;
@group(0) @binding(7) var<storage, read_write> bias_parts: array<f32>;

// The exponent is bounded: infinities are not portable.
fn sigmoid(x: f32) -> f32 { return 1.0 / (1.0 + exp(min(-x, 80.0))); }

// log(1 + eˣ); where eˣ is small, by its series, since 1 + eˣ would round it off.
fn softplus(x: f32) -> f32 {
  let e = exp(-abs(x));
  let small = e * (1.0 - e * (0.5 - e * (1.0 / 3.0 - e * 0.25)));
  return max(x, 0.0) + select(log(1.0 + e), small, e < 0.02);
}

@compute @workgroup_size(64)
fn gates_forward(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i >= P.tokens * P.heads) { return; }
  let n = i % P.heads;
  gates[i] = vec2f(-exp(a_log[n]) * softplus(a[i] + bias[n]), sigmoid(b[i]));
}

@compute @workgroup_size(64)
fn gates_backward(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i >= P.tokens * P.heads) { return; }
  let n = i % P.heads;
  let d = dgates[i];
  da[i] = -exp(a_log[n]) * sigmoid(a[i] + bias[n]) * d.x;
  let beta = sigmoid(b[i]);
  db[i] = beta * (1.0 - beta) * d.y;
}

// Over the rows of part s: log_parts[s, n] = Σ g dg, bias_parts[s, n] = Σ da
@compute @workgroup_size(64)
fn gate_parts(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let begin = thread / P.heads * P.part;
  if (begin >= P.tokens) { return; }
  let n = thread % P.heads;
  var log_sum = 0.0;
  var bias_sum = 0.0;
  for (var t = begin; t < min(begin + P.part, P.tokens); t++) {
    let i = t * P.heads + n;
    log_sum += softplus(a[i] + bias[n]) * dgates[i].x;
    bias_sum += slope[i];
  }
  log_parts[thread] = -exp(a_log[n]) * log_sum;
  bias_parts[thread] = bias_sum;
}
