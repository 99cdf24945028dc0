${SUBGROUPS}
// Attention of few rows to a long cache, as in decoding: the keys of a row are shared out among workgroups, ${KEYS} to each,
// for ${HEADS} query heads that see the same keys. What takes time is waiting for memory, so that a thread asks for
// all that it can hold before it uses any. `attention_decode_merge` puts the parts together.
struct Params {
  base: u32,
  heads: u32, groups: u32,
  // Parts of the keys of a row; those past its last key are left alone.
  parts: u32,
  // vec4s of a row of x; pairs (i, i + half) of them turn, the rest of a head stays.
  width: u32, half: u32,
  scale: f32, epsilon: f32,
  // Added to the norms' weights.
  offset: f32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> start: array<u32>;
@group(0) @binding(2) var<storage, read> end: array<u32>;
// attention_decode. A row of x has the queries; for a step of decoding they are still to be normed and turned, and the
// new key and value of each group follow, for the row before `end` of the cache.
@group(0) @binding(3) var<storage, read> x: array<vec4f>;
@group(0) @binding(4) var<storage, ${ACCESS}> keys: array<${STORED}>;
@group(0) @binding(5) var<storage, ${ACCESS}> values: array<${STORED}>;
// For each row, head and part a vec4 with the maximum of the scores and the sum of their exponentials from it, then the
// values, weighed by these.
@group(0) @binding(6) var<storage, read_write> found: array<vec4f>;
@group(0) @binding(7) var<storage, read> cosines: array<vec4f>;
@group(0) @binding(8) var<storage, read> sines: array<vec4f>;
// Of queries, and of keys.
@group(0) @binding(9) var<storage, read> norm0: array<vec4f>;
@group(0) @binding(10) var<storage, read> norm1: array<vec4f>;
// attention_decode_merge
@group(0) @binding(3) var<storage, read> parts: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> lse: array<f32>;

const KEYS = ${KEYS}u;
const THREADS = ${THREADS}u;
const D4 = ${D4}u;
// Query heads of a workgroup.
const HEADS = ${HEADS}u;
// Neighbouring threads that share a key.
const TEAM = ${TEAM}u;
const TEAMS = ${TEAMS}u;
// Threads that subgroup operations join, 1 without these.
const SUBGROUP = ${SUBGROUP}u;
const PIECES = THREADS / SUBGROUP;
// Threads that add up values side by side, each its own keys.
const SLICES = ${SLICES}u;
// Heads whose sums are in workgroup memory together.
const BATCH = ${BATCH}u;
const LOWEST = -3.4e38;

var<workgroup> queries: array<vec4f, HEADS * D4>;
var<workgroup> weights: array<f32, HEADS * KEYS>;
var<workgroup> tops: array<f32, HEADS * PIECES>;
var<workgroup> totals: array<f32, HEADS * PIECES>;
var<workgroup> sums: array<vec4f, BATCH * SLICES * D4>;

// Four values of the cache.
fn loaded(four: ${STORED}) -> vec4f { return ${LOAD}; }

// The sum over a team.
fn team_sum(value: f32) -> f32 {
  var sum = value;
  // @for s in HALVINGS
  sum += subgroupShuffleXor(sum, 1u << ${s}u);
  // @end
  return sum;
}

fn subgroup_top(value: f32) -> f32 { return ${TOP}; }
fn subgroup_sum(value: f32) -> f32 { return ${SUM}; }

// @for once in NEXT
// Sums of squares of teams: of the queries, then of the key.
var<workgroup> squares: array<f32, 2u * TEAMS>;
// The new key and value as the cache keeps them.
var<workgroup> new_key: array<${STORED}, D4>;
var<workgroup> new_value: array<${STORED}, D4>;

fn stored(value: vec4f) -> ${STORED} { return ${STORE}; }

// 1/√(mean(x²) + epsilon) of a head whose sums of squares begin at `at`.
fn factor(at: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < D4 / TEAM; i++) { sum += squares[at + i]; }
  return 1.0 / sqrt(sum / f32(4u * D4) + P.epsilon);
}
// @end

// @for n in NORMS
// Four values of the head at x[at], normed but for its factor, and turned.
fn turned${n}(at: u32, i: u32, position: u32) -> vec4f {
  let value = x[at + i] * (norm${n}[i] + P.offset);
  if (i >= 2u * P.half) { return value; }
  let lower = i < P.half;
  let other = select(i - P.half, i + P.half, lower);
  let partner = x[at + other] * (norm${n}[other] + P.offset);
  let angle = position * P.half + min(i, other);
  return value * cosines[angle] + select(partner, -partner, lower) * sines[angle];
}
// @end

@compute @workgroup_size(THREADS)
fn attention_decode(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let unit = group_number(P.base, workgroup, groups);
  let part = unit % P.parts;
  let shares = P.heads / HEADS;
  let head = unit / P.parts % shares * HEADS;
  let row = unit / P.parts / shares;
  let sharing = P.heads / P.groups;
  let group = head / sharing;
  let first = start[row] + part * KEYS;
  let stop = end[row];
  if (first >= stop) { return; }
  let count = min(KEYS, stop - first);

  // Keys: a team has every ${TEAMS}th.
  let team = local / TEAM;
  let lane = local % TEAM;
  // @for r in ROUNDS
  let n${r} = team + ${r}u * TEAMS;
  let key${r} = ((first + min(n${r}, count - 1u)) * P.groups + group) * D4 + lane;
  // @for i in KEY_LOADS
  var k${r}_${i} = keys[key${r} + ${i}u * TEAM];
  // @end
  // @end
  // Values: a slice has every ${SLICES}th.
  let column = local % D4;
  let slice = min(local / D4, SLICES - 1u);
  let value = group * D4 + column;
  // @for i in VALUE_LOADS
  var v${i} = values[(first + min(slice + ${i}u * SLICES, count - 1u)) * P.groups * D4 + value];
  // @end

  // @for once in GIVEN
  if (local < HEADS * D4) { queries[local] = x[row * P.width + head * D4 + local] * P.scale; }
  // @end
  // @for once in NEXT
  // Loads past the last key are of its row as well, where until now anything may lie: NaN times a weight of 0 is not 0.
  let newest = stop - 1u - first;
  let position = stop - 1u - start[row];
  let query_at = row * P.width + (head + local / D4) * D4;
  let key_at = row * P.width + (P.heads + group) * D4;
  let value_at = key_at + P.groups * D4;
  var query = vec4f();
  var square = 0.0;
  if (local < HEADS * D4) {
    query = turned0(query_at, column, position);
    square = dot(x[query_at + column], x[query_at + column]);
  }
  square = team_sum(square);
  if (lane == 0u) { squares[team] = square; }
  var key = vec4f();
  if (newest < KEYS) {
    var key_square = 0.0;
    if (local < D4) {
      key = turned1(key_at, local, position);
      key_square = dot(x[key_at + local], x[key_at + local]);
      new_value[local] = stored(x[value_at + local]);
    }
    key_square = team_sum(key_square);
    if (lane == 0u) { squares[TEAMS + team] = key_square; }
  }
  workgroupBarrier();
  if (local < HEADS * D4) { queries[local] = query * (factor(local / D4 * (D4 / TEAM)) * P.scale); }
  if (newest < KEYS && local < D4) {
    new_key[local] = stored(key * factor(TEAMS));
    if (head % sharing == 0u) {
      let to = ((stop - 1u) * P.groups + group) * D4 + local;
      keys[to] = new_key[local];
      values[to] = new_value[local];
    }
  }
  // @end
  workgroupBarrier();

  // @for h in HEADS
  // @for r in ROUNDS
  var score${h}_${r} = 0.0;
  // @end
  // @end
  for (var done = 0u; done < D4; done += ${KEY_LOADS}u * TEAM) {
    if (done > 0u) {
      // @for r in ROUNDS
      // @for i in KEY_LOADS
      k${r}_${i} = keys[key${r} + done + ${i}u * TEAM];
      // @end
      // @end
    }
    // @for i in KEY_LOADS
    {
      let at = done + ${i}u * TEAM + lane;
      // @for r in ROUNDS
      // @for once in NEXT
      if (n${r} >= newest) { k${r}_${i} = new_key[at]; }
      // @end
      let k${r} = loaded(k${r}_${i});
      // @end
      // @for h in HEADS
      let q${h} = queries[${h}u * D4 + at];
      // @for r in ROUNDS
      score${h}_${r} += dot(k${r}, q${h});
      // @end
      // @end
    }
    // @end
  }

  // The largest score of each head, and the exponentials from it.
  // @for h in HEADS
  var top${h} = LOWEST;
  // @for r in ROUNDS
  score${h}_${r} = select(LOWEST, team_sum(score${h}_${r}), n${r} < count);
  top${h} = max(top${h}, score${h}_${r});
  // @end
  top${h} = subgroup_top(top${h});
  if (local % SUBGROUP == 0u) { tops[${h}u * PIECES + local / SUBGROUP] = top${h}; }
  // @end
  workgroupBarrier();
  // @for h in HEADS
  for (var i = 0u; i < PIECES; i++) { top${h} = max(top${h}, tops[${h}u * PIECES + i]); }
  var total${h} = 0.0;
  // @for r in ROUNDS
  {
    let weight = select(0.0, exp(score${h}_${r} - top${h}), n${r} < count);
    if (lane == 0u && n${r} < KEYS) {
      weights[${h}u * KEYS + n${r}] = weight;
      total${h} += weight;
    }
  }
  // @end
  total${h} = subgroup_sum(total${h});
  if (local % SUBGROUP == 0u) { totals[${h}u * PIECES + local / SUBGROUP] = total${h}; }
  // @end
  workgroupBarrier();

  // @for b in BATCHES
  // @for i in BATCH
  var sum${b}_${i} = vec4f();
  // @end
  // @end
  for (var own = slice; own < KEYS; own += ${VALUE_LOADS}u * SLICES) {
    if (own >= ${VALUE_LOADS}u * SLICES) {
      // @for j in VALUE_LOADS
      v${j} = values[(first + min(own + ${j}u * SLICES, count - 1u)) * P.groups * D4 + value];
      // @end
    }
    // @for j in VALUE_LOADS
    {
      let n = own + ${j}u * SLICES;
      // @for once in NEXT
      if (n >= newest) { v${j} = new_value[column]; }
      // @end
      let v = loaded(v${j});
      // @for b in BATCHES
      // @for i in BATCH
      sum${b}_${i} += weights[(${b}u * BATCH + ${i}u) * KEYS + n] * v;
      // @end
      // @end
    }
    // @end
  }

  let to = (row * P.heads + head) * P.parts + part;
  // @for b in BATCHES
  if (${b}u > 0u) { workgroupBarrier(); }
  if (local < SLICES * D4) {
    // @for i in BATCH
    sums[${i}u * SLICES * D4 + local] = sum${b}_${i};
    // @end
  }
  workgroupBarrier();
  if (local < BATCH * D4) {
    let i = local / D4;
    var sum = vec4f();
    for (var s = 0u; s < SLICES; s++) { sum += sums[(i * SLICES + s) * D4 + column]; }
    found[(to + (${b}u * BATCH + i) * P.parts) * (D4 + 1u) + 1u + column] = sum;
  }
  // @end
  // By threads that have no values to add up, as a rule.
  // @for h in HEADS
  if (local == THREADS - 1u - ${h}u) {
    var total = 0.0;
    for (var i = 0u; i < PIECES; i++) { total += totals[${h}u * PIECES + i]; }
    found[(to + ${h}u * P.parts) * (D4 + 1u)] = vec4f(top${h}, total, 0.0, 0.0);
  }
  // @end
}

var<workgroup> slice_sums: array<vec2f, SLICES>;

// A head of a row per workgroup: its slices have every ${SLICES}th part.
@compute @workgroup_size(THREADS)
fn attention_decode_merge(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let pair = group_number(P.base, workgroup, groups);
  let row = pair / P.heads;
  let count = (end[row] - start[row] + KEYS - 1u) / KEYS;
  let column = local % D4;
  let slice = local / D4;
  var top = LOWEST;
  var total = 0.0;
  var sum = vec4f();
  if (slice < SLICES) {
    for (var p = slice; p < count; p += ${PART_LOADS}u * SLICES) {
      // @for i in PART_LOADS
      let at${i} = (pair * P.parts + min(p + ${i}u * SLICES, count - 1u)) * (D4 + 1u);
      let head${i} = parts[at${i}];
      let values${i} = parts[at${i} + 1u + column];
      // @end
      let before = top;
      // @for i in PART_LOADS
      let top${i} = select(LOWEST, head${i}.x, p + ${i}u * SLICES < count);
      top = max(top, top${i});
      // @end
      total *= exp(before - top);
      sum *= exp(before - top);
      // @for i in PART_LOADS
      total += exp(top${i} - top) * head${i}.y;
      sum += exp(top${i} - top) * values${i};
      // @end
    }
    if (column == 0u) { slice_sums[slice] = vec2f(top, total); }
    sums[local] = sum;
  }
  workgroupBarrier();
  if (local >= D4) { return; }
  for (var s = 1u; s < SLICES; s++) { top = max(top, slice_sums[s].x); }
  total = 0.0;
  sum = vec4f();
  for (var s = 0u; s < SLICES; s++) {
    let weight = exp(slice_sums[s].x - top);
    total += weight * slice_sums[s].y;
    sum += weight * sums[s * D4 + local];
  }
  o[pair * D4 + local] = sum / total;
  // @for once in GIVEN
  if (local == 0u) { lse[pair] = top + log(total); }
  // @end
}
