// One token for each sequence from its logits. `draw_floors` finds the least logit that top-k and top-p leave,
// `draw_segments` sums up segments of the vocabulary, `draw_tokens` finds the segment and in it the token, `draw_moves_on`
// takes the sequence to its next token or ends it. They are apart so that none binds more than the eight buffers that every
// device allows.
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
// draw_floors: top-k and top-p
@group(0) @binding(4) var<storage, read> bounds: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> new_floors: array<f32>;
// draw_segments and draw_tokens
@group(0) @binding(4) var<storage, read> floors: array<f32>;
// draw_segments
@group(0) @binding(5) var<storage, read_write> new_segments: array<Segment>;
// draw_tokens
@group(0) @binding(5) var<storage, read> segments: array<Segment>;
@group(0) @binding(6) var<storage, read> uniforms: array<f32>;
// Tokens drawn, and whether the sequence goes on.
@group(0) @binding(7) var<storage, read> progress: array<vec2f>;
@group(0) @binding(8) var<storage, read_write> results: array<vec2f>;
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
fn share_of(logit: f32, id: u32, least: f32, best: f32, temperature: f32) -> f32 {
  if (temperature == 0.0 || id >= P.vocabulary || logit < least || !is_drawable(id)) { return 0.0; }
  return exp((logit - best) / temperature);
}

// The order of floats as that of whole numbers.
fn order_of(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

fn value_of(order: u32) -> f32 {
  return bitcast<f32>(select(~order, order & 0x7fffffffu, (order >> 31u) == 1u));
}

// The sum of all threads; for each of them. Always the same tree, so that a larger set never sums to less.
fn add_all(mine: vec4f, local: u32) -> vec4f {
  shared_values[local] = mine;
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    if (local < half) { shared_values[local] += shared_values[local + half]; }
    workgroupBarrier();
  }
  return workgroupUniformLoad(&shared_values[0]);
}

// The order of the largest logit at which the drawable ones from `least` on, it and all above it, come to `number` of
// them, or, with `share` above 0, to that share of their probability; 0 where there are too few. Found digit by digit, all
// 16 values of one at a time.
fn floor_order(sequence: u32, local: u32, least: u32, number: f32, share: f32, best: f32, temperature: f32) -> u32 {
  var found = 0u;
  var wanted = number;
  for (var digit = 8u; digit > 0u; digit--) {
    let shift = 4u * (digit - 1u);
    let from_0 = vec4u(found) + (vec4u(0u, 1u, 2u, 3u) << vec4u(shift));
    let from_4 = from_0 + vec4u(4u << shift);
    let from_8 = from_0 + vec4u(8u << shift);
    let from_12 = from_0 + vec4u(12u << shift);
    var sum_0 = vec4f();
    var sum_4 = vec4f();
    var sum_8 = vec4f();
    var sum_12 = vec4f();
    for (var id = local; id < P.vocabulary; id += THREADS) {
      let logit = logits[sequence * P.vocabulary + id];
      let order = order_of(logit);
      if (order < max(least, found) || !is_drawable(id)) { continue; }
      var weight = 1.0;
      if (share > 0.0) { weight = exp((logit - best) / temperature); }
      let weights = vec4f(weight);
      sum_0 += select(vec4f(), weights, vec4u(order) >= from_0);
      sum_4 += select(vec4f(), weights, vec4u(order) >= from_4);
      sum_8 += select(vec4f(), weights, vec4u(order) >= from_8);
      sum_12 += select(vec4f(), weights, vec4u(order) >= from_12);
    }
    sum_0 = add_all(sum_0, local);
    sum_4 = add_all(sum_4, local);
    sum_8 = add_all(sum_8, local);
    sum_12 = add_all(sum_12, local);
    if (digit == 8u && share > 0.0) { wanted = share * sum_0.x; }
    // Sums fall from value to value: the digit is the last of them that comes to what is wanted.
    let enough = vec4f(wanted);
    let reached = vec4u(sum_0 >= enough) + vec4u(sum_4 >= enough) + vec4u(sum_8 >= enough) + vec4u(sum_12 >= enough);
    let count = reached.x + reached.y + reached.z + reached.w;
    if (count == 0u) { return 0u; }
    found += (count - 1u) << shift;
  }
  return found;
}

// A sequence a workgroup.
@compute @workgroup_size(THREADS)
fn draw_floors(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let sequence = group_number(P.base, workgroup, groups);
  let temperature = temperatures[sequence];
  let bound = bounds[sequence];
  if (temperature == 0.0 || (bound.x == 0.0 && bound.y == 1.0)) {
    if (local == 0u) { new_floors[sequence] = LOWEST; }
    return;
  }
  var least = 0u;
  if (bound.x > 0.0) { least = floor_order(sequence, local, 0u, bound.x, 0.0, 0.0, 1.0); }
  if (bound.y < 1.0) {
    var best = LOWEST;
    for (var id = local; id < P.vocabulary; id += THREADS) {
      if (is_drawable(id)) { best = max(best, logits[sequence * P.vocabulary + id]); }
    }
    best = join_all(Segment(best, 0.0, best, 0.0), local, temperature).best;
    least = max(least, floor_order(sequence, local, least, 0.0, bound.y, best, temperature));
  }
  if (local == 0u) { new_floors[sequence] = select(value_of(least), LOWEST, least == 0u); }
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
      if (logit >= floors[sequence] && is_drawable(id)) { one = Segment(logit, 1.0, logit, 1.0); }
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
  let least = floors[sequence];
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
    share += share_of(logit, id, least, all.best, temperature);
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
        let part = share_of(logits[sequence * P.vocabulary + one], one, least, all.best, temperature);
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
