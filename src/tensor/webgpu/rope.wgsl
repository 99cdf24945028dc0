// Rotary embedding: turns the pair (i, i + half) of every head by the angle of its position; a pair a thread. What lies
// beyond these pairs is copied, two neighbours a thread.
struct Params {
  base: u32,
  count: u32, heads: u32, half: u32, size: u32,
  // −1 turns back.
  direction: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> cosines: array<f32>;
@group(0) @binding(3) var<storage, read> sines: array<f32>;
@group(0) @binding(4) var<storage, read> positions: array<u32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn rope(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  if (thread >= P.count) { return; }
  let i = thread % (P.size / 2u);
  let row = thread / (P.size / 2u);
  if (i >= P.half) {
    let at = row * P.size + 2u * i;
    y[at] = x[at];
    y[at + 1u] = x[at + 1u];
    return;
  }
  let angle = positions[row / P.heads] * P.half + i;
  let c = cosines[angle];
  let s = sines[angle] * P.direction;
  let at = row * P.size + i;
  let a = x[at];
  let b = x[at + P.half];
  y[at] = a * c - b * s;
  y[at + P.half] = b * c + a * s;
}
