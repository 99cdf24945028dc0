// The gated delta rule by chunks of C = ${CHUNK} tokens (Yang et al., Gated Delta Networks, 2025: the chunkwise form), so
// that only one step a chunk, not a token, has to wait for the one before. Within a chunk, rows of Q, K, V for its tokens,
// S the state before it, G_i = Σ_{j≤i} g_j (g_1 … g_C of the chunk), D_ij = exp(G_i − G_j) for j ≤ i:
//
//   error_i = v_i − e^{G_i} Sᵀ k_i − Σ_{j<i} D_ij (k_i·k_j) β_j error_j          from S_j by unrolling the rule
//   (I + B) E = V − diag(e^G) K S,   B_ij = D_ij (k_i·k_j) β_j for j < i
//   M = (I + B)⁻¹:   E = M V − (M diag(e^G) K) S                                 both products without S
//   O = diag(e^G) Q S + A diag(β) E,   A_ij = D_ij (q_i·k_j) for j ≤ i
//   S' = e^{G_C} S + (diag(e^{G_C − G}) K)ᵀ diag(β) E
//
// The paper's pseudo-values are δ = diag(β) E. Differences of G are taken before exp: each is ≤ 0.
//
// Backward, dS' the gradient of S', X̄ that of X; δ̄_i of δ_i with all that follows from it in the chunk:
//   (I + B̂)ᵀ δ̄ = Aᵀ Ō + diag(e^{G_C − G}) K dS',   B̂_ij = β_i D_ij (k_i·k_j) for j < i;   T = (I + B̂)⁻¹
//   δ̄ = Tᵀ Aᵀ Ō + (Tᵀ diag(e^{G_C − G}) K) dS',   v̄ = diag(β) δ̄,   β̄_i = δ̄_i · error_i
//   dS = e^{G_C} dS' + (diag(e^G) Q)ᵀ Ō − (diag(e^G) K)ᵀ v̄
//   q̄_i = e^{G_i} S ō_i + Σ_{j≤i} H_ij k_j,   H_ij = D_ij ō_i·δ_j,   F_ij = −D_ij v̄_i·δ_j
//   k̄_j = Σ_{i≥j} H_ij q_i + Σ_{i>j} F_ij k_i + Σ_{i<j} F_ji k_i + e^{G_C − G_j} dS' δ_j − e^{G_j} S v̄_j
//   ḡ of a chunk's first token is ⟨dS, S⟩; within it ḡ_{t−1} = ḡ_t + ō_{t−1}·o_{t−1} − v̄_{t−1}·v_{t−1} (delta-rule.wgsl).
//
// Chunks begin at the first token of a sequence; chunk `slot` of all is a row of the table. A lower triangle is stored as
// [C, C], of which tiles of 4 × 4 above the diagonal are neither written nor read.
struct Params {
  base: u32,
  sequences: u32, key_heads: u32, value_heads: u32, tokens: u32,
  // Rows of the table: at least as many as there are chunks.
  slots: u32,
}
@group(0) @binding(0) var<uniform> P: Params;

const DK = ${DK}u;
const DV = ${DV}u;
const DK4 = ${DK4}u;
const DV4 = ${DV4}u;
const C = ${CHUNK}u;
const C4 = C / 4u;

// A chunk: its first row, the row after its last, and its number in its sequence. Unused rows of the table are empty.
fn row_of(head: u32, t: u32) -> u32 { return t * P.value_heads + head; }
fn key_row_of(head: u32, t: u32) -> u32 { return t * P.key_heads + head / (P.value_heads / P.key_heads); }
// A row of a triangle, in vec4s.
fn triangle_at(slot: u32, head: u32, i: u32) -> u32 { return ((slot * P.value_heads + head) * C + i) * C4; }
// A row of a state, in vec4s.
fn state_at(slot: u32, head: u32, d: u32) -> u32 { return ((slot * P.value_heads + head) * DK + d) * DV4; }
fn chunks_between(first: u32, end: u32) -> u32 { return (end - first + C - 1u) / C; }

// --- chunk_table: a thread a slot
@group(0) @binding(1) var<storage, read> sequence_offsets: array<u32>;
@group(0) @binding(2) var<storage, read_write> new_table: array<vec4u>;

@compute @workgroup_size(${GROUP})
fn chunk_table(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let slot = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  if (slot >= P.slots) { return; }
  var left = slot;
  var found = vec4u();
  for (var s = 0u; s < P.sequences; s++) {
    let first = sequence_offsets[s];
    let end = sequence_offsets[s + 1u];
    let count = chunks_between(first, end);
    if (left < count) {
      found = vec4u(first + left * C, min(end, first + (left + 1u) * C), left, 0u);
      break;
    }
    left -= count;
  }
  new_table[slot] = found;
}

// --- chunk_decays: a thread a chunk and head; G and β of each of its rows
@group(0) @binding(1) var<storage, read> gates: array<vec2f>;
@group(0) @binding(2) var<storage, read> decays_table: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> new_decays: array<vec2f>;

@compute @workgroup_size(${GROUP})
fn chunk_decays(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let head = thread % P.value_heads;
  let slot = thread / P.value_heads;
  if (slot >= P.slots) { return; }
  let chunk = decays_table[slot];
  var sum = 0.0;
  for (var t = chunk.x; t < chunk.y; t++) {
    let gate = gates[row_of(head, t)];
    sum += gate.x;
    new_decays[row_of(head, t)] = vec2f(sum, gate.y);
  }
}

// --- chunk_scores: a thread 4 × 4 places of both triangles of a chunk and head.
// SLOPES 0: first [i,j] = D (a_i·c_j), below the diagonal, times β_j (SIDE 0) or β_i (SIDE 1), and second = D (b_i·c_j),
// with the diagonal, times β_j (SIDE 0) or as it is (SIDE 1); a = c = keys, b = queries.
// SLOPES 1: F and H: a = v̄, b = ō, c = errors.
@group(0) @binding(1) var<storage, read> left_a: array<vec4f>;
@group(0) @binding(2) var<storage, read> left_b: array<vec4f>;
@group(0) @binding(3) var<storage, read> right_c: array<vec4f>;
@group(0) @binding(4) var<storage, read> decays: array<vec2f>;
@group(0) @binding(5) var<storage, read> table: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> new_first: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> new_second: array<vec4f>;

const SLOPES = ${SLOPES}u;
const SIDE = ${SIDE}u;

fn scored_at(head: u32, t: u32) -> u32 {
  if (SLOPES == 1u) { return row_of(head, t) * DV4; }
  return key_row_of(head, t) * DK4;
}

@compute @workgroup_size(${GROUP})
fn chunk_scores(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let j4 = thread % C4;
  let i4 = thread / C4 % C4;
  let head = thread / (C4 * C4) % P.value_heads;
  let slot = thread / (C4 * C4 * P.value_heads);
  if (slot >= P.slots || j4 > i4) { return; }
  let chunk = table[slot];
  let count = chunk.y - chunk.x;
  if (4u * i4 >= count) { return; }
  // Rows behind the last are the last again, and not stored.
  // @for r in 4
  let i${r} = chunk.x + min(4u * i4 + ${r}u, count - 1u);
  let j${r} = chunk.x + min(4u * j4 + ${r}u, count - 1u);
  let i_at${r} = scored_at(head, i${r});
  let j_at${r} = scored_at(head, j${r});
  var x${r} = vec4f();
  var y${r} = vec4f();
  // @end
  let length = select(DK4, DV4, SLOPES == 1u);
  for (var d = 0u; d < length; d++) {
    // @for r in 4
    let c${r} = right_c[j_at${r} + d];
    // @end
    // @for r in 4
    let a${r} = left_a[i_at${r} + d];
    let b${r} = left_b[i_at${r} + d];
    x${r} += vec4f(dot(a${r}, c0), dot(a${r}, c1), dot(a${r}, c2), dot(a${r}, c3));
    y${r} += vec4f(dot(b${r}, c0), dot(b${r}, c1), dot(b${r}, c2), dot(b${r}, c3));
    // @end
  }
  // @for r in 4
  let by${r} = decays[row_of(head, j${r})];
  // @end
  let behind = vec4f(by0.x, by1.x, by2.x, by3.x);
  let steps = vec4f(by0.y, by1.y, by2.y, by3.y);
  let columns = 4u * j4 + vec4u(0u, 1u, 2u, 3u);
  // @for r in 4
  {
    let i = 4u * i4 + ${r}u;
    if (i < count) {
      let own = decays[row_of(head, i${r})];
      let kept = exp(min(vec4f(own.x) - behind, vec4f()));
      let below = select(vec4f(), kept, columns < vec4u(i));
      let both = select(vec4f(), kept, columns <= vec4u(i));
      let at = triangle_at(slot, head, i) + j4;
      if (SLOPES == 1u) {
        new_first[at] = -below * steps * x${r};
        new_second[at] = both * steps * y${r};
      } else if (SIDE == 1u) {
        new_first[at] = below * own.y * x${r};
        new_second[at] = both * y${r};
      } else {
        new_first[at] = below * steps * x${r};
        new_second[at] = both * steps * y${r};
      }
    }
  }
  // @end
}

// --- chunk_inverse: (I + B)⁻¹ of a strictly lower B, a thread a column, by forward substitution
@group(0) @binding(1) var<storage, read> strict: array<f32>;
@group(0) @binding(2) var<storage, read> inverse_table: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> new_inverse: array<f32>;

@compute @workgroup_size(${GROUP})
fn chunk_inverse(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let column = thread % C;
  let head = thread / C % P.value_heads;
  let slot = thread / (C * P.value_heads);
  if (slot >= P.slots) { return; }
  let chunk = inverse_table[slot];
  let count = chunk.y - chunk.x;
  if (column >= count) { return; }
  let base = 4u * triangle_at(slot, head, 0u);
  for (var i = column / 4u * 4u; i < column; i++) { new_inverse[base + i * C + column] = 0.0; }
  new_inverse[base + column * C + column] = 1.0;
  for (var i = column + 1u; i < count; i++) {
    var sum = 0.0;
    for (var j = column; j < i; j++) { sum += strict[base + i * C + j] * new_inverse[base + j * C + column]; }
    new_inverse[base + i * C + column] = -sum;
  }
  // Columns behind the last one, of the rows of its tile.
  if (column == count - 1u) {
    for (var j = count; j < (count + 3u) / 4u * 4u; j++) {
      for (var i = column / 4u * 4u; i < count; i++) { new_inverse[base + i * C + j] = 0.0; }
    }
  }
}

// --- chunk_lower: out_i = Σ_{j≤i} L_ij w_j x_j, or, TRANSPOSED, out_j = Σ_{i≥j} L_ij w_i x_i; a thread 4 rows and a vec4 of
// columns. BY_KEY: rows of x are those of key heads. w is 1 (WEIGHT 0), e^{G_j} (1) or e^{G_C − G_i} (2).
@group(0) @binding(1) var<storage, read> lower: array<vec4f>;
@group(0) @binding(2) var<storage, read> factor: array<vec4f>;
@group(0) @binding(3) var<storage, read> lower_table: array<vec4u>;
@group(0) @binding(4) var<storage, read> lower_decays: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> new_product: array<vec4f>;

const WIDTH4 = ${WIDTH4}u;
const BY_KEY = ${BY_KEY}u;
const WEIGHT = ${WEIGHT}u;
const TRANSPOSED = ${TRANSPOSED}u;

fn weighted(head: u32, t: u32, last: f32, column: u32) -> vec4f {
  let row = row_of(head, t);
  let x = factor[select(row, key_row_of(head, t), BY_KEY == 1u) * WIDTH4 + column];
  if (WEIGHT == 1u) { return exp(lower_decays[row].x) * x; }
  if (WEIGHT == 2u) { return exp(last - lower_decays[row].x) * x; }
  return x;
}

@compute @workgroup_size(${GROUP})
fn chunk_lower(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let column = thread % WIDTH4;
  let i4 = thread / WIDTH4 % C4;
  let head = thread / (WIDTH4 * C4) % P.value_heads;
  let slot = thread / (WIDTH4 * C4 * P.value_heads);
  if (slot >= P.slots) { return; }
  let chunk = lower_table[slot];
  let count = chunk.y - chunk.x;
  if (4u * i4 >= count) { return; }
  let last = lower_decays[row_of(head, chunk.y - 1u)].x;
  // @for r in 4
  var sum${r} = vec4f();
  // @end
  if (TRANSPOSED == 1u) {
    for (var i = 4u * i4; i < count; i++) {
      let x = weighted(head, chunk.x + i, last, column);
      let l = lower[triangle_at(slot, head, i) + i4];
      sum0 += l.x * x;
      sum1 += l.y * x;
      sum2 += l.z * x;
      sum3 += l.w * x;
    }
  } else {
    for (var j4 = 0u; j4 <= i4; j4++) {
      // @for r in 4
      let x${r} = weighted(head, chunk.x + min(4u * j4 + ${r}u, count - 1u), last, column);
      // @end
      // @for r in 4
      let l${r} = lower[triangle_at(slot, head, min(4u * i4 + ${r}u, count - 1u)) + j4];
      sum${r} += l${r}.x * x0 + l${r}.y * x1 + l${r}.z * x2 + l${r}.w * x3;
      // @end
    }
  }
  // @for r in 4
  if (4u * i4 + ${r}u < count) { new_product[row_of(head, chunk.x + 4u * i4 + ${r}u) * WIDTH4 + column] = sum${r}; }
  // @end
}

// --- chunk_walk: a workgroup TILE vec4s of columns of S of one head of one sequence, from chunk to chunk. Leaves S before
// each chunk, and, unless the errors are GIVEN, E = (M V) − (M diag(e^G) K) S in the place of M V.
@group(0) @binding(1) var<storage, read> walk_keys: array<f32>;
@group(0) @binding(2) var<storage, read> walk_decays: array<vec2f>;
@group(0) @binding(3) var<storage, read> walk_sequences: array<u32>;
@group(0) @binding(4) var<storage, read_write> walk_errors: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> new_borders: array<vec4f>;
@group(0) @binding(6) var<storage, read> walk_known: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> carried: array<vec4f>;

const TILE = ${TILE}u;
const TILES = (DV4 + TILE - 1u) / TILE;
const WALK = ${WALK}u;
var<workgroup> walk_state: array<vec4f, ${STATE_TILE}>;
var<workgroup> walk_steps: array<vec4f, ${STEP_TILE}>;

@compute @workgroup_size(${WALK})
fn chunk_walk(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  let tile = group % TILES * TILE;
  let head = group / TILES % P.value_heads;
  let sequence = group / (TILES * P.value_heads);
  if (sequence >= P.sequences) { return; }
  var slot = 0u;
  for (var s = 0u; s < sequence; s++) { slot += chunks_between(walk_sequences[s], walk_sequences[s + 1u]); }
  for (var x = local; x < DK * TILE; x += WALK) {
    var value = vec4f();
    // @for given in STATE
    if (tile + x % TILE < DV4) { value = carried[state_at(sequence, head, x / TILE) + tile + x % TILE]; }
    // @end
    walk_state[x] = value;
  }
  let end = walk_sequences[sequence + 1u];
  for (var first = walk_sequences[sequence]; first < end; first += C) {
    let count = min(C, end - first);
    let last = walk_decays[row_of(head, first + count - 1u)].x;
    workgroupBarrier();
    for (var x = local; x < DK * TILE; x += WALK) {
      if (tile + x % TILE < DV4) { new_borders[state_at(slot, head, x / TILE) + tile + x % TILE] = walk_state[x]; }
    }
    for (var x = local; x < count * TILE; x += WALK) {
      let row = row_of(head, first + x / TILE);
      let column = tile + x % TILE;
      let at = row * DV4 + min(column, DV4 - 1u);
      var error = walk_errors[at];
      // @for unknown in UNKNOWN
      var through = vec4f();
      for (var d = 0u; d < DK4; d++) {
        let w = walk_known[row * DK4 + d];
        let s = 4u * d * TILE + x % TILE;
        through += w.x * walk_state[s] + w.y * walk_state[s + TILE] + w.z * walk_state[s + 2u * TILE] + w.w * walk_state[s + 3u * TILE];
      }
      error -= through;
      if (column < DV4) { walk_errors[at] = error; }
      // @end
      let decay = walk_decays[row];
      walk_steps[x] = (decay.y * exp(last - decay.x)) * error;
    }
    workgroupBarrier();
    let kept = exp(last);
    for (var x = local; x < DK * TILE; x += WALK) {
      var sum = kept * walk_state[x];
      for (var i = 0u; i < count; i++) {
        sum += walk_keys[key_row_of(head, first + i) * DK + x / TILE] * walk_steps[i * TILE + x % TILE];
      }
      walk_state[x] = sum;
    }
    slot++;
  }
  // @for given in STATE
  workgroupBarrier();
  for (var x = local; x < DK * TILE; x += WALK) {
    if (tile + x % TILE < DV4) { carried[state_at(sequence, head, x / TILE) + tile + x % TILE] = walk_state[x]; }
  }
  // @end
}

// --- chunk_outputs: O = diag(e^G) Q S + (A diag(β)) E; a thread 4 rows and a vec4 of columns
@group(0) @binding(1) var<storage, read> out_queries: array<vec4f>;
@group(0) @binding(2) var<storage, read> out_scores: array<vec4f>;
@group(0) @binding(3) var<storage, read> out_table: array<vec4u>;
@group(0) @binding(4) var<storage, read> out_decays: array<vec2f>;
@group(0) @binding(5) var<storage, read> out_errors: array<vec4f>;
@group(0) @binding(6) var<storage, read> out_borders: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> new_o: array<vec4f>;

@compute @workgroup_size(${GROUP})
fn chunk_outputs(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let column = thread % DV4;
  let i4 = thread / DV4 % C4;
  let head = thread / (DV4 * C4) % P.value_heads;
  let slot = thread / (DV4 * C4 * P.value_heads);
  if (slot >= P.slots) { return; }
  let chunk = out_table[slot];
  let count = chunk.y - chunk.x;
  if (4u * i4 >= count) { return; }
  // @for r in 4
  let i${r} = min(4u * i4 + ${r}u, count - 1u);
  let q_at${r} = key_row_of(head, chunk.x + i${r}) * DK4;
  var sum${r} = vec4f();
  // @end
  let state = state_at(slot, head, 0u) + column;
  for (var d = 0u; d < DK4; d++) {
    // @for c in 4
    let s${c} = out_borders[state + (4u * d + ${c}u) * DV4];
    // @end
    // @for r in 4
    let q${r} = out_queries[q_at${r} + d];
    sum${r} += q${r}.x * s0 + q${r}.y * s1 + q${r}.z * s2 + q${r}.w * s3;
    // @end
  }
  // @for r in 4
  sum${r} *= exp(out_decays[row_of(head, chunk.x + i${r})].x);
  // @end
  for (var j4 = 0u; j4 <= i4; j4++) {
    // @for c in 4
    let e${c} = out_errors[row_of(head, chunk.x + min(4u * j4 + ${c}u, count - 1u)) * DV4 + column];
    // @end
    // @for r in 4
    let a${r} = out_scores[triangle_at(slot, head, i${r}) + j4];
    sum${r} += a${r}.x * e0 + a${r}.y * e1 + a${r}.z * e2 + a${r}.w * e3;
    // @end
  }
  // @for r in 4
  if (4u * i4 + ${r}u < count) { new_o[row_of(head, chunk.x + 4u * i4 + ${r}u) * DV4 + column] = sum${r}; }
  // @end
}

// --- chunk_walk_back: as chunk_walk, with dS from chunk to chunk back in time. Leaves dS' after each chunk, and δ̄ in the
// place of Tᵀ Aᵀ Ō; `back_known` is Tᵀ diag(e^{G_C − G}) K.
@group(0) @binding(1) var<storage, read> back_keys: array<f32>;
@group(0) @binding(2) var<storage, read> back_queries: array<f32>;
@group(0) @binding(3) var<storage, read> back_decays: array<vec2f>;
@group(0) @binding(4) var<storage, read> back_sequences: array<u32>;
@group(0) @binding(5) var<storage, read> back_dout: array<vec4f>;
@group(0) @binding(6) var<storage, read> back_known: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> back_steps: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> new_dborders: array<vec4f>;

var<workgroup> walk_outs: array<vec4f, ${STEP_TILE}>;

@compute @workgroup_size(${WALK})
fn chunk_walk_back(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let group = group_number(P.base, workgroup, groups);
  let tile = group % TILES * TILE;
  let head = group / TILES % P.value_heads;
  let sequence = group / (TILES * P.value_heads);
  if (sequence >= P.sequences) { return; }
  var slot = 0u;
  for (var s = 0u; s < sequence; s++) { slot += chunks_between(back_sequences[s], back_sequences[s + 1u]); }
  for (var x = local; x < DK * TILE; x += WALK) { walk_state[x] = vec4f(); }
  let begin = back_sequences[sequence];
  let end = back_sequences[sequence + 1u];
  for (var left = chunks_between(begin, end); left > 0u; left--) {
    let first = begin + (left - 1u) * C;
    let count = min(C, end - first);
    let last = back_decays[row_of(head, first + count - 1u)].x;
    workgroupBarrier();
    for (var x = local; x < DK * TILE; x += WALK) {
      if (tile + x % TILE < DV4) { new_dborders[state_at(slot + left - 1u, head, x / TILE) + tile + x % TILE] = walk_state[x]; }
    }
    for (var x = local; x < count * TILE; x += WALK) {
      let row = row_of(head, first + x / TILE);
      let column = tile + x % TILE;
      let at = row * DV4 + min(column, DV4 - 1u);
      var through = vec4f();
      for (var d = 0u; d < DK4; d++) {
        let w = back_known[row * DK4 + d];
        let s = 4u * d * TILE + x % TILE;
        through += w.x * walk_state[s] + w.y * walk_state[s + TILE] + w.z * walk_state[s + 2u * TILE] + w.w * walk_state[s + 3u * TILE];
      }
      let step = back_steps[at] + through;
      if (column < DV4) { back_steps[at] = step; }
      let decay = back_decays[row];
      let kept = exp(decay.x);
      walk_steps[x] = (decay.y * kept) * step;
      walk_outs[x] = kept * back_dout[at];
    }
    workgroupBarrier();
    let kept = exp(last);
    for (var x = local; x < DK * TILE; x += WALK) {
      var sum = kept * walk_state[x];
      for (var i = 0u; i < count; i++) {
        let at = key_row_of(head, first + i) * DK + x / TILE;
        sum += back_queries[at] * walk_outs[i * TILE + x % TILE] - back_keys[at] * walk_steps[i * TILE + x % TILE];
      }
      walk_state[x] = sum;
    }
  }
}

// --- chunk_borders: the terms of ⟨dS, S⟩ before a chunk by rows of S, a thread each; none before a sequence's first
@group(0) @binding(1) var<storage, read> border_table: array<vec4u>;
@group(0) @binding(2) var<storage, read> border_states: array<vec4f>;
@group(0) @binding(3) var<storage, read> border_slopes: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> new_parts: array<f32>;

@compute @workgroup_size(${GROUP})
fn chunk_borders(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let d = thread % DK;
  let head = thread / DK % P.value_heads;
  let slot = thread / (DK * P.value_heads);
  if (slot >= P.slots) { return; }
  var sum = 0.0;
  if (border_table[slot].z > 0u) {
    let state = state_at(slot, head, d);
    let slope = state_at(slot - 1u, head, d);
    for (var c = 0u; c < DV4; c++) { sum += dot(border_states[state + c], border_slopes[slope + c]); }
  }
  new_parts[thread] = sum;
}

// --- chunk_decay_slopes: ḡ of a chunk and head in the place of ō·o − v̄·v, a thread each
@group(0) @binding(1) var<storage, read> slope_table: array<vec4u>;
@group(0) @binding(2) var<storage, read> slope_parts: array<f32>;
@group(0) @binding(3) var<storage, read_write> gate_slopes: array<vec2f>;

fn border_slope(slot: u32, head: u32) -> f32 {
  var sum = 0.0;
  for (var d = 0u; d < DK; d++) { sum += slope_parts[(slot * P.value_heads + head) * DK + d]; }
  return sum;
}

@compute @workgroup_size(${GROUP})
fn chunk_decay_slopes(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let head = thread % P.value_heads;
  let slot = thread / P.value_heads;
  if (slot >= P.slots) { return; }
  let chunk = slope_table[slot];
  var sum = 0.0;
  if (slot + 1u < P.slots && slope_table[slot + 1u].z > 0u) { sum = border_slope(slot + 1u, head); }
  for (var t = chunk.y; t > chunk.x; t--) {
    let row = row_of(head, t - 1u);
    let gate = gate_slopes[row];
    sum += gate.x;
    // What is added up along the way rounds: the first row takes its own.
    if (t - 1u == chunk.x && chunk.z > 0u) { sum = border_slope(slot, head); }
    gate_slopes[row] = vec2f(sum, gate.y);
  }
}

// --- chunk_near: the parts of q̄ and k̄ from the chunk itself, [T, N, 2, dk]; a thread 4 rows and a vec4 of columns
@group(0) @binding(1) var<storage, read> near_queries: array<vec4f>;
@group(0) @binding(2) var<storage, read> near_keys: array<vec4f>;
// F and H
@group(0) @binding(3) var<storage, read> near_first: array<vec4f>;
@group(0) @binding(4) var<storage, read> near_second: array<vec4f>;
@group(0) @binding(5) var<storage, read> near_table: array<vec4u>;
@group(0) @binding(6) var<storage, read_write> new_slopes: array<vec4f>;

@compute @workgroup_size(${GROUP})
fn chunk_near(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let column = thread % DK4;
  let i4 = thread / DK4 % C4;
  let head = thread / (DK4 * C4) % P.value_heads;
  let slot = thread / (DK4 * C4 * P.value_heads);
  if (slot >= P.slots) { return; }
  let chunk = near_table[slot];
  let count = chunk.y - chunk.x;
  if (4u * i4 >= count) { return; }
  // @for r in 4
  let i${r} = min(4u * i4 + ${r}u, count - 1u);
  var dq${r} = vec4f();
  var dk${r} = vec4f();
  // @end
  // Keys that these rows see.
  for (var j4 = 0u; j4 <= i4; j4++) {
    // @for c in 4
    let k${c} = near_keys[key_row_of(head, chunk.x + min(4u * j4 + ${c}u, count - 1u)) * DK4 + column];
    // @end
    // @for r in 4
    let f${r} = near_first[triangle_at(slot, head, i${r}) + j4];
    let h${r} = near_second[triangle_at(slot, head, i${r}) + j4];
    dq${r} += h${r}.x * k0 + h${r}.y * k1 + h${r}.z * k2 + h${r}.w * k3;
    dk${r} += f${r}.x * k0 + f${r}.y * k1 + f${r}.z * k2 + f${r}.w * k3;
    // @end
  }
  // Rows that see these keys.
  for (var i = 4u * i4; i < count; i++) {
    let at = key_row_of(head, chunk.x + i) * DK4 + column;
    let q = near_queries[at];
    let k = near_keys[at];
    let f = near_first[triangle_at(slot, head, i) + i4];
    let h = near_second[triangle_at(slot, head, i) + i4];
    dk0 += h.x * q + f.x * k;
    dk1 += h.y * q + f.y * k;
    dk2 += h.z * q + f.z * k;
    dk3 += h.w * q + f.w * k;
  }
  // @for r in 4
  if (4u * i4 + ${r}u < count) {
    let at = 2u * row_of(head, chunk.x + 4u * i4 + ${r}u) * DK4 + column;
    new_slopes[at] = dq${r};
    new_slopes[at + DK4] = dk${r};
  }
  // @end
}

// --- chunk_far: adds those through the states before and after the chunk; threads as in chunk_near
@group(0) @binding(1) var<storage, read> far_errors: array<vec4f>;
@group(0) @binding(2) var<storage, read> far_dv: array<vec4f>;
@group(0) @binding(3) var<storage, read> far_dout: array<vec4f>;
@group(0) @binding(4) var<storage, read> far_states: array<vec4f>;
@group(0) @binding(5) var<storage, read> far_slopes: array<vec4f>;
@group(0) @binding(6) var<storage, read> far_decays: array<vec2f>;
@group(0) @binding(7) var<storage, read> far_table: array<vec4u>;
@group(0) @binding(8) var<storage, read_write> slopes: array<vec4f>;

@compute @workgroup_size(${GROUP})
fn chunk_far(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let column = thread % DK4;
  let i4 = thread / DK4 % C4;
  let head = thread / (DK4 * C4) % P.value_heads;
  let slot = thread / (DK4 * C4 * P.value_heads);
  if (slot >= P.slots) { return; }
  let chunk = far_table[slot];
  let count = chunk.y - chunk.x;
  if (4u * i4 >= count) { return; }
  let last = far_decays[row_of(head, chunk.y - 1u)].x;
  // @for r in 4
  let row${r} = row_of(head, chunk.x + min(4u * i4 + ${r}u, count - 1u));
  var dq${r} = vec4f();
  var through${r} = vec4f();
  var onward${r} = vec4f();
  // @end
  let state = state_at(slot, head, 4u * column);
  for (var c = 0u; c < DV4; c++) {
    // @for d in 4
    let s${d} = far_states[state + ${d}u * DV4 + c];
    let ds${d} = far_slopes[state + ${d}u * DV4 + c];
    // @end
    // @for r in 4
    let out${r} = far_dout[row${r} * DV4 + c];
    let v${r} = far_dv[row${r} * DV4 + c];
    let e${r} = far_errors[row${r} * DV4 + c];
    dq${r} += vec4f(dot(s0, out${r}), dot(s1, out${r}), dot(s2, out${r}), dot(s3, out${r}));
    through${r} += vec4f(dot(s0, v${r}), dot(s1, v${r}), dot(s2, v${r}), dot(s3, v${r}));
    onward${r} += vec4f(dot(ds0, e${r}), dot(ds1, e${r}), dot(ds2, e${r}), dot(ds3, e${r}));
    // @end
  }
  // @for r in 4
  if (4u * i4 + ${r}u < count) {
    let decay = far_decays[row${r}];
    let kept = exp(decay.x);
    let at = 2u * row${r} * DK4 + column;
    slopes[at] += kept * dq${r};
    slopes[at + DK4] += (decay.y * exp(last - decay.x)) * onward${r} - kept * through${r};
  }
  // @end
}
