// Entropy and the most probable tokens of rows, from a block of logits (rows × a piece of the vocabulary); a row per
// workgroup. What blocks before found is in `entropy`, `top_values` and `top_ids`; the first block finds them empty.
struct Params {
  base: u32,
  rows: u32,
  // The block's columns, where they begin in the vocabulary, and values of a row of the block.
  columns: u32, first: u32, row: u32,
  // Where the block's rows begin in lse and in the results.
  at: u32,
  // Tokens to find, and those found before.
  top: u32, found: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read_write> entropy: array<f32>;
@group(0) @binding(4) var<storage, read_write> top_values: array<f32>;
@group(0) @binding(5) var<storage, read_write> top_ids: array<f32>;

const GROUP = 64u;
const MOST = 64u;
const NONE = 0xffffffffu;
const LOWEST = -3.4e38;

// A token of the row by its log-probability; among equals the lower id comes first.
struct Found { value: f32, id: u32 }

var<workgroup> sums: array<f32, GROUP>;
var<workgroup> leaders: array<Found, GROUP>;
var<workgroup> before: array<Found, MOST>;

fn comes_first(a: Found, b: Found) -> bool {
  return a.value > b.value || (a.value == b.value && a.id < b.id);
}

// Of the thread's columns and the tokens found before, the first that comes after `last`.
fn next(r: u32, local: u32, shift: f32, last: Found) -> Found {
  var best = Found(LOWEST, NONE);
  for (var c = local; c < P.columns; c += GROUP) {
    let here = Found(logits[r * P.row + c] - shift, P.first + c);
    if (comes_first(last, here) && comes_first(here, best)) { best = here; }
  }
  for (var i = local; i < P.found; i += GROUP) {
    if (comes_first(last, before[i]) && comes_first(before[i], best)) { best = before[i]; }
  }
  return best;
}

@compute @workgroup_size(GROUP)
fn head_distribution(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let r = group_number(P.base, workgroup, groups);
  if (r >= P.rows) { return; }
  let row = P.at + r;
  let shift = lse[row];
  // −p log p: every term is positive.
  var sum = 0.0;
  for (var c = local; c < P.columns; c += GROUP) {
    let logprob = logits[r * P.row + c] - shift;
    sum -= exp(logprob) * logprob;
  }
  sums[local] = sum;
  for (var i = local; i < P.found; i += GROUP) {
    before[i] = Found(top_values[row * P.top + i], u32(top_ids[row * P.top + i]));
  }
  workgroupBarrier();
  if (local == 0u) {
    var total = select(entropy[row], 0.0, P.first == 0u);
    for (var i = 0u; i < GROUP; i++) { total += sums[i]; }
    entropy[row] = total;
  }
  if (P.top == 0u) { return; }
  leaders[local] = next(r, local, shift, Found(-LOWEST, 0u));
  workgroupBarrier();
  let count = min(P.top, P.found + P.columns);
  for (var i = 0u; i < count; i++) {
    var winner = 0u;
    for (var other = 1u; other < GROUP; other++) {
      if (comes_first(leaders[other], leaders[winner])) { winner = other; }
    }
    let token = leaders[winner];
    workgroupBarrier();
    if (local == winner) {
      top_values[row * P.top + i] = token.value;
      top_ids[row * P.top + i] = f32(token.id);
      leaders[local] = next(r, local, shift, token);
    }
    workgroupBarrier();
  }
}
