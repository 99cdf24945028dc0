// Reverse KL of rows of logits against a teacher's log-probabilities, and its slopes in the logits, written in their place;
// a row per workgroup. Both are normalised over what is compared: the whole vocabulary, or the ids of the row.
struct Params {
  base: u32,
  rows: u32,
  // Values of a row of logits.
  vocabulary: u32,
  // Ids of a row.
  k: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
// reverse_kl
@group(0) @binding(1) var<storage, read> teacher: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<storage, read_write> logits: array<f32>;
@group(0) @binding(4) var<storage, read_write> divergence: array<f32>;
// top_reverse_kl
@group(0) @binding(1) var<storage, read> top_ids: array<u32>;
@group(0) @binding(2) var<storage, read> top_teacher: array<f32>;
@group(0) @binding(3) var<storage, read> top_c: array<f32>;
@group(0) @binding(4) var<storage, read_write> top_logits: array<f32>;
@group(0) @binding(5) var<storage, read_write> top_divergence: array<f32>;

const GROUP = 64u;
const LOWEST = -3.4e38;

// Of each thread, and then read by all: (student, teacher).
var<workgroup> parts: array<vec2f, GROUP>;

fn largest(local: u32, mine: vec2f) -> vec2f {
  workgroupBarrier();
  parts[local] = mine;
  workgroupBarrier();
  var result = parts[0];
  for (var i = 1u; i < GROUP; i++) { result = max(result, parts[i]); }
  return result;
}

fn total(local: u32, mine: vec2f) -> vec2f {
  workgroupBarrier();
  parts[local] = mine;
  workgroupBarrier();
  var result = vec2f();
  for (var i = 0u; i < GROUP; i++) { result += parts[i]; }
  return result;
}

@compute @workgroup_size(GROUP)
fn reverse_kl(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let r = group_number(P.base, workgroup, groups);
  if (r >= P.rows) { return; }
  let begin = r * P.vocabulary;
  let end = begin + P.vocabulary;
  var mine = vec2f(LOWEST);
  for (var i = begin + local; i < end; i += GROUP) { mine = max(mine, vec2f(logits[i], teacher[i])); }
  let top = largest(local, mine);
  mine = vec2f();
  for (var i = begin + local; i < end; i += GROUP) { mine += exp(vec2f(logits[i], teacher[i]) - top); }
  let lse = top + log(total(local, mine));
  mine = vec2f();
  for (var i = begin + local; i < end; i += GROUP) {
    let logprob = vec2f(logits[i], teacher[i]) - lse;
    mine.x += exp(logprob.x) * (logprob.x - logprob.y);
  }
  let kl = total(local, mine).x;
  let slope = c[r];
  for (var i = begin + local; i < end; i += GROUP) {
    let logprob = vec2f(logits[i], teacher[i]) - lse;
    logits[i] = slope * exp(logprob.x) * (logprob.x - logprob.y - kl);
  }
  if (local == 0u) { divergence[r] = kl; }
}

// An id a thread: k is at most GROUP.
@compute @workgroup_size(GROUP)
fn top_reverse_kl(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let r = group_number(P.base, workgroup, groups);
  if (r >= P.rows) { return; }
  let begin = r * P.vocabulary;
  let here = local < P.k;
  let place = r * P.k + min(local, P.k - 1u);
  let target_at = begin + top_ids[place];
  let mine = vec2f(top_logits[target_at], top_teacher[place]);
  let top = largest(local, select(vec2f(LOWEST), mine, here));
  let lse = top + log(total(local, select(vec2f(), exp(mine - top), here)));
  let logprob = mine - lse;
  let share = select(0.0, exp(logprob.x), here);
  let kl = total(local, vec2f(share * (logprob.x - logprob.y), 0.0)).x;
  for (var v = local; v < P.vocabulary; v += GROUP) { top_logits[begin + v] = 0.0; }
  storageBarrier();
  if (here) { top_logits[target_at] = top_c[r] * share * (logprob.x - logprob.y - kl); }
  if (local == 0u) { top_divergence[r] = kl; }
}
