// One token for each sequence from its logits. `draw_segments` sums up segments of the vocabulary, `draw_tokens` finds the
// segment and in it the token, `draw_moves_on` takes the sequence to its next token or ends it. They are apart so that none
// binds more than the eight buffers that every device allows.
struct Params {
  base: u32,
  sequences: u32, vocabulary: u32, segments: u32,
  // Tokens that a sequence has room for; ids that end one; ranges of drawable ids.
  longest: u32, stop_count: u32, range_count: u32,
}
// Of all ids: the maximum, and Σ exp(logit − maximum). Of the drawable ones: the maximum, and
// Σ exp((logit − maximum) / temperature).
struct Segment { top: f32, sum: f32, best: f32, share: f32 }

@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> temperatures: array<f32>;
@group(0) @binding(3) var<storage, read> drawable: array<vec2u>;
// draw_segments
@group(0) @binding(4) var<storage, read_write> new_segments: array<Segment>;
// draw_tokens
@group(0) @binding(4) var<storage, read> segments: array<Segment>;
@group(0) @binding(5) var<storage, read> uniforms: array<f32>;
// Tokens drawn, and whether the sequence goes on.
@group(0) @binding(6) var<storage, read> progress: array<vec2f>;
@group(0) @binding(7) var<storage, read_write> results: array<vec2f>;
// draw_moves_on
@group(0) @binding(1) var<storage, read> drawn: array<vec2f>;
@group(0) @binding(2) var<storage, read> limits: array<u32>;
@group(0) @binding(3) var<storage, read> stops: array<u32>;
@group(0) @binding(4) var<storage, read_write> new_progress: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> ids: array<u32>;
@group(0) @binding(6) var<storage, read_write> positions: array<u32>;
@group(0) @binding(7) var<storage, read_write> rows: array<u32>;
@group(0) @binding(8) var<storage, read_write> ends: array<u32>;

const THREADS = ${THREADS}u;
// Ids of a segment that a thread looks at.
const EACH = ${EACH}u;
const SEGMENT = THREADS * EACH;
const LOWEST = -3.4e38;
const NONE = 0xffffffffu;

var<workgroup> shared_values: array<vec4f, THREADS>;
var<workgroup> shared_ids: array<u32, THREADS>;
var<workgroup> chosen: vec2u;
var<workgroup> before: f32;

fn is_drawable(id: u32) -> bool {
  for (var r = 0u; r < P.range_count; r++) {
    if (id >= drawable[r].x && id < drawable[r].y) { return true; }
  }
  return false;
}

// exp of a drawable logit from the largest one, at the sequence's temperature; 0 of others, and where the draw is greedy.
fn share_of(logit: f32, id: u32, best: f32, temperature: f32) -> f32 {
  if (temperature == 0.0 || id >= P.vocabulary || !is_drawable(id)) { return 0.0; }
  return exp((logit - best) / temperature);
}

// Combines what is known of two sets of ids.
fn join(a: Segment, b: Segment, temperature: f32) -> Segment {
  let top = max(a.top, b.top);
  let best = max(a.best, b.best);
  let sum = a.sum * exp(a.top - top) + b.sum * exp(b.top - top);
  if (temperature == 0.0) { return Segment(top, sum, best, 0.0); }
  let share = a.share * exp((a.best - best) / temperature) + b.share * exp((b.best - best) / temperature);
  return Segment(top, sum, best, share);
}

// What all threads know together; for each of them.
fn join_all(mine: Segment, local: u32, temperature: f32) -> Segment {
  shared_values[local] = vec4f(mine.top, mine.sum, mine.best, mine.share);
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    if (local < half) {
      let a = shared_values[local];
      let b = shared_values[local + half];
      let both = join(Segment(a.x, a.y, a.z, a.w), Segment(b.x, b.y, b.z, b.w), temperature);
      shared_values[local] = vec4f(both.top, both.sum, both.best, both.share);
    }
    workgroupBarrier();
  }
  let all = shared_values[0];
  workgroupBarrier();
  return Segment(all.x, all.y, all.z, all.w);
}

@compute @workgroup_size(THREADS)
fn draw_segments(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  let sequence = group / P.segments;
  let first = group % P.segments * SEGMENT;
  let temperature = temperatures[sequence];
  var mine = Segment(LOWEST, 0.0, LOWEST, 0.0);
  for (var i = 0u; i < EACH; i++) {
    let id = first + i * THREADS + local;
    if (id < P.vocabulary) {
      let logit = logits[sequence * P.vocabulary + id];
      var one = Segment(logit, 1.0, LOWEST, 0.0);
      if (is_drawable(id)) { one = Segment(logit, 1.0, logit, 1.0); }
      mine = join(mine, one, temperature);
    }
  }
  let all = join_all(mine, local, temperature);
  if (local == 0u) { new_segments[group] = all; }
}

// A sequence a workgroup.
@compute @workgroup_size(THREADS)
fn draw_tokens(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let sequence = group_number(P.base, workgroup, groups);
  let temperature = temperatures[sequence];
  let own = sequence * P.segments;
  var mine = Segment(LOWEST, 0.0, LOWEST, 0.0);
  for (var s = local; s < P.segments; s += THREADS) { mine = join(mine, segments[own + s], temperature); }
  let all = join_all(mine, local, temperature);
  let now = progress[sequence];
  let count = min(u32(now.x), P.longest - 1u);
  let greedy = temperature == 0.0;
  let target_share = uniforms[sequence * P.longest + count] * all.share;

  // The segment: the first that has the largest logit, or in which the sum of all shares exceeds the target. The last with
  // any share stands in where rounding leaves the whole sum below it.
  if (local == 0u) {
    var total = 0.0;
    var found = 0u;
    for (var s = 0u; s < P.segments; s++) {
      let segment = segments[own + s];
      if (greedy) {
        if (segment.best == all.best) { found = s; break; }
        continue;
      }
      let share = segment.share * exp((segment.best - all.best) / temperature);
      if (share > 0.0) {
        found = s;
        before = total;
      }
      total += share;
      if (total > target_share) { break; }
    }
    chosen = vec2u(found, NONE);
  }
  workgroupBarrier();
  let first = workgroupUniformLoad(&chosen).x * SEGMENT;

  // The token: each thread has EACH neighbours.
  var share = 0.0;
  var candidate = NONE;
  for (var i = 0u; i < EACH; i++) {
    let id = first + local * EACH + i;
    if (id >= P.vocabulary) { break; }
    let logit = logits[sequence * P.vocabulary + id];
    share += share_of(logit, id, all.best, temperature);
    if (candidate == NONE && logit == all.best && is_drawable(id)) { candidate = id; }
  }
  shared_values[local] = vec4f(share);
  shared_ids[local] = candidate;
  workgroupBarrier();
  if (local != 0u || now.y == 0.0) { return; }
  var id = NONE;
  if (greedy) {
    for (var t = 0u; t < THREADS && id == NONE; t++) { id = shared_ids[t]; }
  } else {
    var total = before;
    var thread = NONE;
    var below = before;
    for (var t = 0u; t < THREADS; t++) {
      if (shared_values[t].x > 0.0) {
        thread = t;
        below = total;
      }
      total += shared_values[t].x;
      if (total > target_share) { break; }
    }
    if (thread != NONE) {
      total = below;
      for (var i = 0u; i < EACH; i++) {
        let one = first + thread * EACH + i;
        if (one >= P.vocabulary) { break; }
        let part = share_of(logits[sequence * P.vocabulary + one], one, all.best, temperature);
        if (part > 0.0) { id = one; }
        total += part;
        if (total > target_share) { break; }
      }
    }
  }
  // Without a finite logit there is nothing to draw: the log-probability says so.
  id = min(id, P.vocabulary - 1u);
  let logprob = logits[sequence * P.vocabulary + id] - all.top - log(all.sum);
  results[sequence * P.longest + count] = vec2f(f32(id), logprob);
}

@compute @workgroup_size(64)
fn draw_moves_on(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let sequence = group_number(P.base, workgroup, groups) * 64u + local;
  if (sequence >= P.sequences) { return; }
  let now = new_progress[sequence];
  if (now.y == 0.0) { return; }
  let id = u32(drawn[sequence * P.longest + u32(now.x)].x);
  var goes_on = u32(now.x) + 1u < limits[sequence];
  for (var s = 0u; s < P.stop_count; s++) {
    if (stops[s] == id) { goes_on = false; }
  }
  new_progress[sequence] = vec2f(now.x + 1.0, select(0.0, 1.0, goes_on));
  if (!goes_on) { return; }
  ids[sequence] = id;
  positions[sequence] += 1u;
  rows[sequence] += 1u;
  ends[sequence] += 1u;
}
