// The gated delta rule, token after token. A thread holds one column of the state S [dk, dv] of one value head of one
// sequence (or of its gradient dS), or one row, in registers: the columns of S do not meet each other on the way forward,
// those of dS not on the way back, and once the gradient of v is known, neither do the rows. So nothing is shared, and
// states are stored only now and then, for the gradient of the decays.
struct Params {
  base: u32,
  sequences: u32, key_heads: u32, value_heads: u32, tokens: u32,
  // sum_value_heads: 0 for dq, 1 for dk.
  which: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> queries: array<vec4f>;
@group(0) @binding(2) var<storage, read> keys: array<vec4f>;
@group(0) @binding(3) var<storage, read> v: array<f32>;
// Logarithm of what is kept of the state, and step.
@group(0) @binding(4) var<storage, read> gates: array<vec2f>;
@group(0) @binding(5) var<storage, read> sequences: array<u32>;
@group(0) @binding(6) var<storage, read_write> o: array<f32>;
@group(0) @binding(7) var<storage, read_write> errors: array<f32>;
@group(0) @binding(8) var<storage, read_write> states: array<f32>;
// delta_step_gradients
@group(0) @binding(3) var<storage, read> dout: array<f32>;
@group(0) @binding(6) var<storage, read_write> dsteps: array<f32>;
// delta_values
@group(0) @binding(1) var<storage, read> old_v4: array<vec4f>;
@group(0) @binding(2) var<storage, read> old_o4: array<vec4f>;
@group(0) @binding(3) var<storage, read> dout4: array<vec4f>;
@group(0) @binding(5) var<storage, read> errors4: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> dvalues4: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> dgates: array<vec2f>;
// delta_decays
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read> parts: array<f32>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec2f>;
// delta_rows_forward, delta_rows_backward
@group(0) @binding(1) var<storage, read> key_or_query: array<f32>;
@group(0) @binding(2) var<storage, read> dv4: array<vec4f>;
@group(0) @binding(6) var<storage, read> row_errors4: array<vec4f>;
// One buffer for all that the walks over the rows leave: dq and dk of every value head [T, N, 2, dk]; then S before every
// CHUNK-th row [T / CHUNK, N, dk, dv]; then the terms of ⟨dS, S⟩ there, by row of S [T / CHUNK, N, dk].
@group(0) @binding(7) var<storage, read_write> scratch: array<f32>;
@group(0) @binding(8) var<storage, read> key_values: array<f32>;
// sum_value_heads
@group(0) @binding(1) var<storage, read> by_value_head: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> by_key_head: array<vec4f>;

const DK = ${DK}u;
const DV = ${DV}u;
const DK4 = ${DK4}u;
const DV4 = ${DV4}u;
const CHUNK = ${CHUNK}u;

fn border_at(slot: u32, head: u32, component: u32) -> u32 {
  return 2u * P.tokens * P.value_heads * DK + ((slot * P.value_heads + head) * DK + component) * DV;
}

fn part_at(slot: u32, head: u32, component: u32) -> u32 {
  let slots = (P.tokens + CHUNK - 1u) / CHUNK;
  return border_at(slots, 0u, 0u) + (slot * P.value_heads + head) * DK + component;
}

@compute @workgroup_size(${GROUP})
fn delta_forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let column = thread % DV;
  let head = thread / DV % P.value_heads;
  let sequence = thread / (DV * P.value_heads);
  if (sequence >= P.sequences) { return; }
  let key_head = head / (P.value_heads / P.key_heads);
  // @for i in DK4
  var s${i} = vec4f();
  // @end
  // @for given in STATE
  let state_at = (sequence * P.value_heads + head) * DK * DV + column;
  // @for i in DK4
  s${i} = vec4f(
    states[state_at + (4u * ${i}u) * DV],
    states[state_at + (4u * ${i}u + 1u) * DV],
    states[state_at + (4u * ${i}u + 2u) * DV],
    states[state_at + (4u * ${i}u + 3u) * DV],
  );
  // @end
  // @end
  let end = sequences[sequence + 1u];
  for (var t = sequences[sequence]; t < end; t++) {
    let row = t * P.value_heads + head;
    let at = (t * P.key_heads + key_head) * DK4;
    let gate = gates[row];
    let alpha = exp(gate.x);
    // @for i in DK4
    let k${i} = keys[at + ${i}u];
    // @end
    // Sums as single expressions: on a software adapter each assignment to a variable costs a masked store.
    let known = vec4f()
    // @for i in DK4
      + s${i} * k${i}
    // @end
    ;
    let error = v[row * DV + column] - alpha * dot(known, vec4f(1.0));
    let step = gate.y * error;
    // @for i in DK4
    s${i} = alpha * s${i} + step * k${i};
    // @end
    let out = vec4f()
    // @for i in DK4
      + s${i} * queries[at + ${i}u]
    // @end
    ;
    o[row * DV + column] = dot(out, vec4f(1.0));
    errors[row * DV + column] = error;
  }
  // @for given in STATE
  // @for i in DK4
  states[state_at + (4u * ${i}u) * DV] = s${i}.x;
  states[state_at + (4u * ${i}u + 1u) * DV] = s${i}.y;
  states[state_at + (4u * ${i}u + 2u) * DV] = s${i}.z;
  states[state_at + (4u * ${i}u + 3u) * DV] = s${i}.w;
  // @end
  // @end
}

// A column of dS, back in time: dS += q doᵀ, dδ = dSᵀ k, dS ← α (dS − β k dδᵀ). Leaves dδ.
@compute @workgroup_size(${GROUP})
fn delta_step_gradients(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let column = thread % DV;
  let head = thread / DV % P.value_heads;
  let sequence = thread / (DV * P.value_heads);
  if (sequence >= P.sequences) { return; }
  let key_head = head / (P.value_heads / P.key_heads);
  // @for i in DK4
  var s${i} = vec4f();
  // @end
  let first = sequences[sequence];
  for (var t = sequences[sequence + 1u]; t > first; t--) {
    let row = (t - 1u) * P.value_heads + head;
    let at = ((t - 1u) * P.key_heads + key_head) * DK4;
    let gate = gates[row];
    let alpha = exp(gate.x);
    let slope = dout[row * DV + column];
    // @for i in DK4
    let k${i} = keys[at + ${i}u];
    let ds${i} = s${i} + slope * queries[at + ${i}u];
    // @end
    let along = vec4f()
    // @for i in DK4
      + ds${i} * k${i}
    // @end
    ;
    let dstep = dot(along, vec4f(1.0));
    // @for i in DK4
    s${i} = alpha * (ds${i} - (gate.y * dstep) * k${i});
    // @end
    dsteps[row * DV + column] = dstep;
  }
}

// One head of one token: dv = β dδ in the place of dδ, dβ = dδ · error, and do · o − dv · v for delta_decays.
@compute @workgroup_size(${GROUP})
fn delta_values(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  if (row >= P.tokens * P.value_heads) { return; }
  let beta = gates[row].y;
  var dbeta = 0.0;
  var term = 0.0;
  for (var i = row * DV4; i < (row + 1u) * DV4; i++) {
    let dstep = dvalues4[i];
    let dv = beta * dstep;
    dbeta += dot(dstep, errors4[i]);
    term += dot(dout4[i], old_o4[i]) - dot(dv, old_v4[i]);
    dvalues4[i] = dv;
  }
  dgates[row] = vec2f(term, dbeta);
}

// dg_{t−1} = dg_t + do_{t−1} · o_{t−1} − dv_{t−1} · v_{t−1} within a sequence. For with c_t = ⟨dS_t, S_t⟩, where dS_t has
// do_t in it: S_t = M S_{t−1} + k (β v)ᵀ gives c_t = ⟨Mᵀ dS_t, S_{t−1}⟩ + dv_t · v_t = dg_t + dv_t · v_t, and dS_{t−1} =
// Mᵀ dS_t + q doᵀ gives c_{t−1} = dg_t + do_{t−1} · o_{t−1}. The terms are large where dg is small, so rounding adds up
// along the way: every CHUNK-th row takes dg_t = ⟨Mᵀ dS_t, S_{t−1}⟩ itself.
@compute @workgroup_size(${GROUP})
fn delta_decays(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let head = thread % P.value_heads;
  let sequence = thread / P.value_heads;
  if (sequence >= P.sequences) { return; }
  let first = offsets[sequence];
  let end = offsets[sequence + 1u];
  var sum = 0.0;
  for (var t = end; t > first; t--) {
    if (t < end && t % CHUNK == 0u) {
      sum = 0.0;
      for (var i = 0u; i < DK; i++) { sum += parts[part_at(t / CHUNK, head, i)]; }
      let border = t * P.value_heads + head;
      sums[border] = vec2f(sum, sums[border].y);
    }
    let row = (t - 1u) * P.value_heads + head;
    let gate = sums[row];
    sum += gate.x;
    sums[row] = vec2f(sum, gate.y);
  }
}

// A row of S, forward in time: dk = − S̃ dv, dq = S do.
@compute @workgroup_size(${GROUP})
fn delta_rows_forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let component = thread % DK;
  let head = thread / DK % P.value_heads;
  let sequence = thread / (DK * P.value_heads);
  if (sequence >= P.sequences) { return; }
  let key_head = head / (P.value_heads / P.key_heads);
  // @for i in DV4
  var s${i} = vec4f();
  // @end
  let first = sequences[sequence];
  let end = sequences[sequence + 1u];
  for (var t = first; t < end; t++) {
    if (t > first && t % CHUNK == 0u) {
      let border = border_at(t / CHUNK, head, component);
      // @for i in DV4
      scratch[border + 4u * ${i}u] = s${i}.x;
      scratch[border + 4u * ${i}u + 1u] = s${i}.y;
      scratch[border + 4u * ${i}u + 2u] = s${i}.z;
      scratch[border + 4u * ${i}u + 3u] = s${i}.w;
      // @end
    }
    let row = t * P.value_heads + head;
    let gate = gates[row];
    let alpha = exp(gate.x);
    let step = gate.y * key_or_query[(t * P.key_heads + key_head) * DK + component];
    let at = row * DV4;
    let through = vec4f()
    // @for i in DV4
      + s${i} * dv4[at + ${i}u]
    // @end
    ;
    scratch[(2u * row + 1u) * DK + component] = -alpha * dot(through, vec4f(1.0));
    // @for i in DV4
    s${i} = alpha * s${i} + step * row_errors4[at + ${i}u];
    // @end
    let along = vec4f()
    // @for i in DV4
      + s${i} * dout4[at + ${i}u]
    // @end
    ;
    scratch[2u * row * DK + component] = dot(along, vec4f(1.0));
  }
}

// A row of dS, back in time: dk += dS δ.
@compute @workgroup_size(${GROUP})
fn delta_rows_backward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  let component = thread % DK;
  let head = thread / DK % P.value_heads;
  let sequence = thread / (DK * P.value_heads);
  if (sequence >= P.sequences) { return; }
  let key_head = head / (P.value_heads / P.key_heads);
  // @for i in DV4
  var s${i} = vec4f();
  // @end
  let first = sequences[sequence];
  let end = sequences[sequence + 1u];
  for (var t = end; t > first; t--) {
    if (t < end && t % CHUNK == 0u) {
      let border = border_at(t / CHUNK, head, component);
      let both = vec4f()
      // @for i in DV4
        + s${i} * vec4f(
          scratch[border + 4u * ${i}u],
          scratch[border + 4u * ${i}u + 1u],
          scratch[border + 4u * ${i}u + 2u],
          scratch[border + 4u * ${i}u + 3u],
        )
      // @end
      ;
      scratch[part_at(t / CHUNK, head, component)] = dot(both, vec4f(1.0));
    }
    let row = (t - 1u) * P.value_heads + head;
    let at = row * DV4;
    let gate = gates[row];
    let alpha = exp(gate.x);
    let place = ((t - 1u) * P.key_heads + key_head) * DK + component;
    let query = key_or_query[place];
    let key = key_values[place];
    // @for i in DV4
    let ds${i} = s${i} + query * dout4[at + ${i}u];
    // @end
    let along = vec4f()
    // @for i in DV4
      + ds${i} * row_errors4[at + ${i}u]
    // @end
    ;
    scratch[(2u * row + 1u) * DK + component] += gate.y * dot(along, vec4f(1.0));
    // @for i in DV4
    s${i} = alpha * (ds${i} - key * dv4[at + ${i}u]);
    // @end
  }
}

// dq or dk of a key head: the sum over its value heads; a vec4 a thread.
@compute @workgroup_size(${GROUP})
fn sum_value_heads(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let thread = group_number(P.base, workgroup, groups) * ${GROUP}u + local;
  if (thread >= P.tokens * P.key_heads * DK4) { return; }
  let repeats = P.value_heads / P.key_heads;
  let first = (2u * (thread / DK4) * repeats + P.which) * DK4 + thread % DK4;
  var sum = vec4f();
  for (var r = 0u; r < repeats; r++) { sum += by_value_head[first + 2u * r * DK4]; }
  by_key_head[thread] = sum;
}
