// The part of a chunk that needs no state (delta-chunks.wgsl stands before this): the table of chunks, decays, the triangles of
// products of its rows, their inverse, and products with them.

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

// --- chunk_decays: one thread per chunk and head; G and β of each of its rows
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

// --- chunk_inverse: (I + B)⁻¹ of a strictly lower B, one thread per column, by forward substitution
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
