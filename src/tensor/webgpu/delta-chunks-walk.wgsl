// From chunk to chunk, forward and back: all that has to wait for the one before (delta-chunks.wgsl stands before this).

// --- chunk_walk: a workgroup TILE vec4s of columns of S of one head of one sequence, from chunk to chunk. Leaves S before
// each chunk, and, where the errors are UNKNOWN, E = (M V) − (M diag(e^G) K) S in the place of M V.
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
