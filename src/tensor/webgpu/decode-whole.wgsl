// Whole sequences: a workgroup takes one through all layers of a small model, token after token, until it ends. Neither
// dispatches nor the device's latency between them count then, which is all that a step of a small model takes otherwise.
// `pack_matrix` brings the weights into one buffer, in the order in which neighbouring threads read them.
struct Params {
  base: u32,
  // decode_whole: most tokens of this dispatch, room for results, ids that end a sequence, ranges of drawable ids, rows of
  // a layer's keys in the cache.
  tokens: u32, longest: u32, stop_count: u32, range_count: u32, cache_rows: u32,
}
struct Packing {
  base: u32,
  // Of the weight [rows, 4 · vectors]; columns of the packed matrix, the first of this weight, and where that matrix begins.
  rows: u32, vectors: u32, columns: u32, column: u32, at: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
// Behind the weights: cosines [ROOM, D / 2], and sines.
@group(0) @binding(1) var<storage, read> weights: array<vec4f>;
// Layer by layer: keys [rows, G, D], then values.
@group(0) @binding(2) var<storage, read_write> cache: array<vec4f>;
@group(0) @binding(3) var<storage, read> temperatures: array<f32>;
@group(0) @binding(4) var<storage, read> uniforms: array<f32>;
@group(0) @binding(5) var<storage, read> limits: array<u32>;
@group(0) @binding(6) var<storage, read> stops: array<u32>;
@group(0) @binding(7) var<storage, read> drawable: array<vec2u>;
@group(0) @binding(8) var<storage, read> starts: array<u32>;
@group(0) @binding(9) var<storage, read_write> results: array<vec2f>;
@group(0) @binding(10) var<storage, read_write> progress: array<vec2f>;
@group(0) @binding(11) var<storage, read_write> ids: array<u32>;
@group(0) @binding(12) var<storage, read_write> positions: array<u32>;
// pack_matrix
@group(0) @binding(0) var<uniform> Q: Packing;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> packed_weights: array<vec4f>;

// Four neighbouring inputs of an output to a thread.
@compute @workgroup_size(64)
fn pack_matrix(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(Q.base, workgroup, groups) * 64u + local;
  if (thread >= Q.rows * Q.vectors) { return; }
  let row = thread / Q.vectors;
  let vector = thread % Q.vectors;
  packed_weights[Q.at + vector * Q.columns + Q.column + row] = weight[thread];
}

const THREADS = ${THREADS}u;
const LAYERS = ${LAYERS}u;
// Sizes in vec4s: of the model, of a head, of all heads, of the inner layer.
const X4 = ${X4}u;
const D4 = ${D4}u;
const O4 = HEADS * D4;
const F4 = ${F4}u;
const HEADS = ${HEADS}u;
const GROUPS = ${GROUPS}u;
const SHARING = HEADS / GROUPS;
const SIZE = 4u * D4;
const VOCABULARY = ${VOCABULARY}u;
// Most keys of a sequence.
const ROOM = ${ROOM}u;
const EPSILON = ${EPSILON};
// Where a layer's weights begin behind those of the layer before, in vec4s.
const QKV = X4;
const QKV_COLUMNS = (HEADS + 2u * GROUPS) * SIZE;
const QUERY_NORM = QKV + X4 * QKV_COLUMNS;
const KEY_NORM = QUERY_NORM + D4;
const OUTPUT = KEY_NORM + D4;
const POST_NORM = OUTPUT + O4 * 4u * X4;
const GATE_UP = POST_NORM + X4;
const DOWN = GATE_UP + X4 * 8u * F4;
const LAYER = DOWN + F4 * 4u * X4;
const FINAL_NORM = LAYERS * LAYER;
const HEAD = FINAL_NORM + X4;
const COSINES = HEAD + X4 * VOCABULARY;
const SINES = COSINES + ROOM * D4 / 2u;
// Threads that share a head's scores, and that share the sum of four of its outputs.
const LANES = THREADS / HEADS;
const SLICES = THREADS / O4;
// Ids of the vocabulary to a thread, neighbours.
const EACH = (VOCABULARY + THREADS - 1u) / THREADS;
const LOWEST = -3.4e38;
const NONE = 0xffffffffu;

var<workgroup> x: array<vec4f, X4>;
// Input of a product, and its result.
var<workgroup> h: array<vec4f, ${H4}>;
var<workgroup> y: array<f32, ${Y}>;
var<workgroup> queries: array<vec4f, O4>;
var<workgroup> scores: array<f32, HEADS * ROOM>;
var<workgroup> parts: array<vec4f, THREADS>;
var<workgroup> chosen: atomic<u32>;
var<workgroup> id: u32;
var<workgroup> position: u32;
var<workgroup> drawn: u32;
var<workgroup> alive: u32;

fn is_drawable(id: u32) -> bool {
  for (var r = 0u; r < P.range_count; r++) {
    if (id >= drawable[r].x && id < drawable[r].y) { return true; }
  }
  return false;
}

// y[n] = Σ h[k] · w[k][n] over `vectors` vec4s, for the matrix that begins at `at`. Where there are more threads than
// columns, several share one.
fn multiply(at: u32, columns: u32, vectors: u32, local: u32) {
  if (2u * columns <= THREADS) {
    let sharing = THREADS / columns;
    var total = 0.0;
    if (local < sharing * columns) {
      for (var k = local / columns; k < vectors; k += sharing) {
        total += dot(weights[at + k * columns + local % columns], h[k]);
      }
    }
    parts[local].x = total;
    workgroupBarrier();
    if (local < columns) {
      for (var p = 1u; p < sharing; p++) { total += parts[p * columns + local].x; }
      y[local] = total;
    }
  } else {
    for (var n = local; n < columns; n += THREADS) {
      var total = vec4f();
      for (var k = 0u; k < vectors; k++) {
        total += weights[at + k * columns + n] * h[k];
      }
      y[n] = total.x + total.y + total.z + total.w;
    }
  }
  workgroupBarrier();
}

// h = rmsNorm(x), each thread for itself: reading all of x takes less than adding in a tree.
fn normalise(at: u32, local: u32) {
  var squares = vec4f();
  for (var i = 0u; i < X4; i++) { squares += x[i] * x[i]; }
  let rstd = inverseSqrt((squares.x + squares.y + squares.z + squares.w) / f32(4u * X4) + EPSILON);
  for (var i = local; i < X4; i += THREADS) { h[i] = x[i] * rstd * weights[at + i]; }
  workgroupBarrier();
}

fn y_at(i: u32) -> vec4f { return vec4f(y[4u * i], y[4u * i + 1u], y[4u * i + 2u], y[4u * i + 3u]); }

fn add_y(local: u32) {
  for (var i = local; i < X4; i += THREADS) { x[i] += y_at(i); }
  workgroupBarrier();
}

// Adds up, or finds the largest, over all threads; for each of them.
fn sum_all(mine: vec4f, local: u32) -> vec4f {
  parts[local] = mine;
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    if (local < half) { parts[local] += parts[local + half]; }
    workgroupBarrier();
  }
  return workgroupUniformLoad(&parts[0]);
}
fn max_all(mine: vec4f, local: u32) -> vec4f {
  parts[local] = mine;
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    if (local < half) { parts[local] = max(parts[local], parts[local + half]); }
    workgroupBarrier();
  }
  return workgroupUniformLoad(&parts[0]);
}

// queries = the turned queries; the token's keys and values go to the cache.
fn turn_and_keep(layer: u32, row: u32, at: u32, local: u32) {
  let angle = position * D4 / 2u;
  let keys_at = (2u * layer * P.cache_rows + row) * GROUPS * D4;
  let values_at = ((2u * layer + 1u) * P.cache_rows + row) * GROUPS * D4;
  // Four neighbours of the first half of a head and four of the second to a thread: halves are whole vec4s.
  for (var n = local; n < (HEADS + GROUPS) * D4 / 2u; n += THREADS) {
    let head = n / (D4 / 2u);
    let i = n % (D4 / 2u);
    let norm = at + select(QUERY_NORM, KEY_NORM, head >= HEADS);
    var squares = vec4f();
    for (var j = 0u; j < D4; j++) { squares += y_at(head * D4 + j) * y_at(head * D4 + j); }
    let rstd = inverseSqrt((squares.x + squares.y + squares.z + squares.w) / f32(SIZE) + EPSILON);
    let a = y_at(head * D4 + i) * rstd * weights[norm + i];
    let b = y_at(head * D4 + D4 / 2u + i) * rstd * weights[norm + D4 / 2u + i];
    let c = weights[COSINES + angle + i];
    let s = weights[SINES + angle + i];
    let first = a * c - b * s;
    let second = b * c + a * s;
    if (head < HEADS) {
      queries[head * D4 + i] = first;
      queries[head * D4 + D4 / 2u + i] = second;
    } else {
      cache[keys_at + (head - HEADS) * D4 + i] = first;
      cache[keys_at + (head - HEADS) * D4 + D4 / 2u + i] = second;
    }
  }
  for (var n = local; n < GROUPS * D4; n += THREADS) {
    cache[values_at + n] = y_at((HEADS + GROUPS) * D4 + n);
  }
  storageBarrier();
  workgroupBarrier();
}

// h = attention(queries) to the rows start … row.
fn attend(layer: u32, start: u32, row: u32, local: u32) {
  let count = row - start + 1u;
  let keys_at = (2u * layer * P.cache_rows + start) * GROUPS * D4;
  let values_at = ((2u * layer + 1u) * P.cache_rows + start) * GROUPS * D4;
  for (var n = local; n < count * GROUPS; n += THREADS) {
    let key = n / GROUPS;
    let group = n % GROUPS;
    // @for s in SHARING
    var score${s} = 0.0;
    // @end
    for (var i = 0u; i < D4; i++) {
      let k = cache[keys_at + n * D4 + i];
      // @for s in SHARING
      score${s} += dot(k, queries[(group * SHARING + ${s}u) * D4 + i]);
      // @end
    }
    // @for s in SHARING
    scores[(group * SHARING + ${s}u) * ROOM + key] = score${s} * ${SCALE};
    // @end
  }
  workgroupBarrier();
  let head = min(local / LANES, HEADS - 1u);
  let lane = local % LANES;
  let works = local < LANES * HEADS;
  var top = LOWEST;
  for (var n = lane; n < count; n += LANES) { top = max(top, scores[head * ROOM + n]); }
  parts[local].x = top;
  workgroupBarrier();
  for (var l = 0u; l < LANES; l++) { top = max(top, parts[head * LANES + l].x); }
  workgroupBarrier();
  var sum = 0.0;
  if (works) {
    for (var n = lane; n < count; n += LANES) {
      let weight = exp(scores[head * ROOM + n] - top);
      scores[head * ROOM + n] = weight;
      sum += weight;
    }
  }
  parts[local].x = sum;
  workgroupBarrier();
  // Four outputs to a thread, and a slice of the keys.
  let o = local % O4;
  let own = o / D4;
  var total = vec4f();
  sum = 0.0;
  for (var l = 0u; l < LANES; l++) { sum += parts[own * LANES + l].x; }
  if (local < SLICES * O4) {
    for (var n = local / O4; n < count; n += SLICES) {
      total += scores[own * ROOM + n] * cache[values_at + (n * GROUPS + own / SHARING) * D4 + o % D4];
    }
  }
  workgroupBarrier();
  parts[local] = total;
  workgroupBarrier();
  if (local < O4) {
    for (var s = 1u; s < SLICES; s++) { total += parts[s * O4 + local]; }
    h[local] = total / sum;
  }
  workgroupBarrier();
}

// Draws the next token from the logits in y, as draw.wgsl does: the same shares in the same order of ids.
fn draw(sequence: u32, local: u32) {
  let temperature = temperatures[sequence];
  let greedy = temperature == 0.0;
  let first = local * EACH;
  let end = min(first + EACH, VOCABULARY);
  var top = vec4f(LOWEST);
  for (var i = first; i < end; i++) {
    top.x = max(top.x, y[i]);
    if (is_drawable(i)) { top.y = max(top.y, y[i]); }
  }
  top = max_all(top, local);
  var all = vec4f();
  var share = 0.0;
  var candidate = NONE;
  for (var i = first; i < end; i++) {
    all.x += exp(y[i] - top.x);
    if (!is_drawable(i)) { continue; }
    if (greedy) {
      if (y[i] == top.y) { candidate = min(candidate, i); }
    } else {
      share += exp((y[i] - top.y) / temperature);
    }
  }
  all = sum_all(all, local);
  parts[local].x = share;
  if (local == 0u) { atomicStore(&chosen, NONE); }
  workgroupBarrier();
  // The first thread whose shares pass the target; where rounding leaves the sum of all below it, the last with any.
  var before = 0.0;
  var whole = 0.0;
  var last = NONE;
  for (var t = 0u; t < THREADS; t++) {
    if (t == local) { before = whole; }
    whole += parts[t].x;
    if (parts[t].x > 0.0) { last = t; }
  }
  let wanted = uniforms[sequence * P.longest + drawn] * whole;
  if (greedy) {
    if (candidate != NONE) { atomicMin(&chosen, candidate); }
  } else if (share > 0.0 && (before + share > wanted || local == last)) {
    atomicMin(&chosen, local);
  }
  workgroupBarrier();
  let found = atomicLoad(&chosen);
  workgroupBarrier();
  if (!greedy && local == found) {
    var total = before;
    var token = NONE;
    for (var i = first; i < end; i++) {
      if (!is_drawable(i)) { continue; }
      let part = exp((y[i] - top.y) / temperature);
      if (part > 0.0) { token = i; }
      total += part;
      if (total > wanted) { break; }
    }
    atomicStore(&chosen, token);
  }
  workgroupBarrier();
  if (local == 0u) {
    // Without a finite logit there is nothing to draw: the log-probability says so.
    let token = min(atomicLoad(&chosen), VOCABULARY - 1u);
    results[sequence * P.longest + drawn] = vec2f(f32(token), y[token] - top.x - log(all.x));
    var goes_on = drawn + 1u < limits[sequence];
    for (var s = 0u; s < P.stop_count; s++) {
      if (stops[s] == token) { goes_on = false; }
    }
    drawn += 1u;
    progress[sequence] = vec2f(f32(drawn), select(0.0, 1.0, goes_on));
    alive = select(0u, 1u, goes_on);
    if (goes_on) {
      id = token;
      position += 1u;
      ids[sequence] = id;
      positions[sequence] = position;
    }
  }
  workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn decode_whole(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let sequence = group_number(P.base, workgroup, groups);
  let start = starts[sequence];
  if (local == 0u) {
    id = ids[sequence];
    position = positions[sequence];
    drawn = u32(progress[sequence].x);
    alive = u32(progress[sequence].y);
  }
  workgroupBarrier();
  for (var token = 0u; token < P.tokens; token++) {
    if (workgroupUniformLoad(&alive) == 0u) { break; }
    let row = start + position;
    for (var i = local; i < X4; i += THREADS) { x[i] = weights[HEAD + i * VOCABULARY + id]; }
    workgroupBarrier();
    for (var layer = 0u; layer < LAYERS; layer++) {
      let at = layer * LAYER;
      normalise(at, local);
      multiply(at + QKV, QKV_COLUMNS, X4, local);
      turn_and_keep(layer, row, at, local);
      attend(layer, start, row, local);
      multiply(at + OUTPUT, 4u * X4, O4, local);
      add_y(local);
      normalise(at + POST_NORM, local);
      multiply(at + GATE_UP, 8u * F4, X4, local);
      for (var i = local; i < F4; i += THREADS) {
        let gate = y_at(i);
        h[i] = gate / (1.0 + exp(-gate)) * y_at(F4 + i);
      }
      workgroupBarrier();
      multiply(at + DOWN, 4u * X4, F4, local);
      add_y(local);
    }
    normalise(FINAL_NORM, local);
    multiply(HEAD, VOCABULARY, X4, local);
    draw(sequence, local);
  }
}
