// The vocabulary head on a block of logits (rows × a piece of the vocabulary), never on all of them at once.
struct Params {
  base: u32,
  rows: u32,
  // The block's columns, where they begin in the vocabulary, and values of a row of the block.
  columns: u32, first: u32, row: u32,
  // Segments of SEGMENT columns in the whole vocabulary.
  segments: u32,
  // Where the block's rows begin in targets, lse, c and logprobs.
  at: u32,
  // Values of a row of h.
  width: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
// head_segments
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read_write> new_segments: array<vec2f>;
// head_merge
@group(0) @binding(1) var<storage, read> segments: array<vec2f>;
@group(0) @binding(2) var<storage, read> h: array<f32>;
// The target's row of the head for each row of h.
@group(0) @binding(3) var<storage, read> target_rows: array<f32>;
@group(0) @binding(4) var<storage, read_write> logprobs: array<f32>;
@group(0) @binding(5) var<storage, read_write> new_lse: array<f32>;
// head_slopes
@group(0) @binding(1) var<storage, read> wanted: array<u32>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read> c: array<f32>;
@group(0) @binding(4) var<storage, read_write> slopes: array<vec4f>;

const SEGMENT = ${SEGMENT}u;

// (maximum, Σ exp(logit − maximum)) of each row and segment of the block; a segment a thread.
@compute @workgroup_size(64)
fn head_segments(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let here = (P.columns + SEGMENT - 1u) / SEGMENT;
  let r = thread / here;
  if (r >= P.rows) { return; }
  let s = thread % here;
  let begin = r * P.row + s * SEGMENT;
  let end = r * P.row + min((s + 1u) * SEGMENT, P.columns);
  var top = logits[begin];
  for (var i = begin + 1u; i < end; i++) { top = max(top, logits[i]); }
  var sum = 0.0;
  for (var i = begin; i < end; i++) { sum += exp(logits[i] - top); }
  new_segments[r * P.segments + P.first / SEGMENT + s] = vec2f(top, sum);
}

// lse from a row's segments, and the target's log-probability; a row per thread.
@compute @workgroup_size(64)
fn head_merge(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let r = group_number(P.base, workgroup, groups) * 64u + local;
  if (r >= P.rows) { return; }
  let begin = r * P.segments;
  var top = segments[begin].x;
  for (var s = 1u; s < P.segments; s++) { top = max(top, segments[begin + s].x); }
  var sum = 0.0;
  for (var s = 0u; s < P.segments; s++) { sum += segments[begin + s].y * exp(segments[begin + s].x - top); }
  let total = top + log(sum);
  var logit = 0.0;
  let row = P.at + r;
  for (var i = 0u; i < P.width; i++) { logit += h[row * P.width + i] * target_rows[row * P.width + i]; }
  new_lse[row] = total;
  logprobs[row] = logit - total;
}

// Logits to their slopes c (onehot − softmax), in place; padding columns become 0. A vec4 a thread.
@compute @workgroup_size(64)
fn head_slopes(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let r = thread / (P.row / 4u);
  if (r >= P.rows) { return; }
  let column = vec4u(thread % (P.row / 4u) * 4u) + vec4u(0u, 1u, 2u, 3u);
  let row = P.at + r;
  let chosen = select(vec4f(), vec4f(1.0), column + vec4u(P.first) == vec4u(wanted[row]));
  let slope = c[row] * (chosen - exp(min(slopes[thread] - lse[row], vec4f(0.0))));
  slopes[thread] = select(vec4f(), slope, column < vec4u(P.columns));
}
