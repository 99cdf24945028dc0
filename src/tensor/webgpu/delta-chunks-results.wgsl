// What a call returns, from the states at the borders of chunks (delta-chunks.wgsl stands before this): outputs, and
// gradients of gates, queries and keys.

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
