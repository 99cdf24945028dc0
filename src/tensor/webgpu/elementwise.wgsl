// One vec4 a thread. The last one may reach into a tensor's padding, whose values mean nothing.
struct Params {
  base: u32,
  count: u32,
  value: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> y: array<vec4f>;
// swiglu_backward: a = gate, b = up. sigmoid_gate_backward: a = x, b = gate.
@group(0) @binding(3) var<storage, read> dy: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> da: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> db: array<vec4f>;
// add_in_place and fill.
@group(0) @binding(1) var<storage, read_write> into: array<vec4f>;

// The exponent is bounded: infinities are not portable.
fn sigmoid(x: vec4f) -> vec4f { return 1.0 / (1.0 + exp(min(-x, vec4f(80.0)))); }

@compute @workgroup_size(64)
fn add(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) { y[i] = a[i] + b[i]; }
}

@compute @workgroup_size(64)
fn add_in_place(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) { into[i] += b[i]; }
}

@compute @workgroup_size(64)
fn fill(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) { into[i] = vec4f(P.value); }
}

@compute @workgroup_size(64)
fn swiglu(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) { y[i] = a[i] * sigmoid(a[i]) * b[i]; }
}

// silu′(x) = σ(x) (1 + x (1 − σ(x)))
@compute @workgroup_size(64)
fn swiglu_backward(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) {
    let s = sigmoid(a[i]);
    da[i] = dy[i] * b[i] * s * (1.0 + a[i] * (1.0 - s));
    db[i] = dy[i] * a[i] * s;
  }
}

@compute @workgroup_size(64)
fn sigmoid_gate(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) { y[i] = a[i] * sigmoid(b[i]); }
}

@compute @workgroup_size(64)
fn sigmoid_gate_backward(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let i = group_number(P.base, workgroup, groups) * 64u + local;
  if (i < P.count) {
    let s = sigmoid(b[i]);
    da[i] = dy[i] * s;
    db[i] = dy[i] * a[i] * s * (1.0 - s);
  }
}
