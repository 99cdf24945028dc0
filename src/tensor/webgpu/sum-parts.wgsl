// y[at + i] (+)= Σ_s parts[s, i]: adds what split reductions left, always in the same order. With several chunks of parts
// y[chunk, i] is the sum of one of them.
struct Params {
  base: u32,
  count: u32, parts: u32, accumulate: u32, at: u32,
  // Parts a chunk, and how many chunks.
  chunk: u32, chunks: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> parts: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn sum_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  if (thread >= P.count * P.chunks) { return; }
  let i = thread % P.count;
  let first = thread / P.count * P.chunk;
  var sum = 0.0;
  for (var s = first; s < min(first + P.chunk, P.parts); s++) { sum += parts[s * P.count + i]; }
  if (P.accumulate == 1u) { sum += y[P.at + thread]; }
  y[P.at + thread] = sum;
}
