// States of the gated delta rule on its way, from the errors that it left: sums of outer products, in which the columns of
// a state do not meet each other, and neither do its rows. A thread walks with a vec4 of one row, over all spans that begin
// with the same token.
struct Params {
  base: u32,
  states: u32, key_heads: u32, value_heads: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> keys: array<f32>;
// Logarithm of what is kept of the state, and step.
@group(0) @binding(2) var<storage, read> gates: array<vec2f>;
@group(0) @binding(3) var<storage, read> errors: array<vec4f>;
// First row and the row after the last, of each state.
@group(0) @binding(4) var<storage, read> spans: array<vec2u>;
@group(0) @binding(5) var<storage, read_write> states: array<vec4f>;

const DK = ${DK}u;
const DV4 = ${DV4}u;

@compute @workgroup_size(64)
fn delta_states(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  let column = thread % DV4;
  let component = thread / DV4 % DK;
  let head = thread / (DV4 * DK) % P.value_heads;
  let begin = thread / (DV4 * DK * P.value_heads);
  if (begin >= P.states) { return; }
  let first = spans[begin].x;
  if (begin > 0u) {
    if (spans[begin - 1u].x == first) { return; }
  }
  let key_head = head / (P.value_heads / P.key_heads);
  var state = vec4f();
  var t = first;
  for (var p = begin; p < P.states; p++) {
    let span = spans[p];
    if (span.x != first) { break; }
    while (t < span.y) {
      let row = t * P.value_heads + head;
      let gate = gates[row];
      let step = gate.y * keys[(t * P.key_heads + key_head) * DK + component];
      state = exp(gate.x) * state + step * errors[row * DV4 + column];
      t++;
    }
    states[((p * P.value_heads + head) * DK + component) * DV4 + column] = state;
  }
}
