// Values as a file stores them (${FROM}: F32, F16 or BF16) to the words of a weight (weight-format.ts, whose bits these
// are), and whether any of them is left to the host. By integers where WGSL leaves the rounding open.
struct Params {
  base: u32,
  // Threads: one per four values, of int8 and int4 one per group.
  count: u32,
  // Of int8 and int4: values per group and words per block.
  group: u32, block: u32,
}
@group(0) @binding(0) var<uniform> P: Params;
@group(0) @binding(1) var<storage, read> given: array<u32>;
@group(0) @binding(2) var<storage, read_write> words: array<u32>;
@group(0) @binding(3) var<storage, read_write> declined: array<atomic<u32>>;

// The bits of 1.0 as f32.
fn decline() { atomicStore(&declined[0], 0x3f800000u); }

// Value i as the bits of an f32.
fn bits_F32(i: u32) -> u32 { return given[i]; }

fn half(i: u32) -> u32 { return (given[i / 2u] >> (16u * (i % 2u))) & 0xffffu; }

fn bits_BF16(i: u32) -> u32 { return half(i) << 16u; }

fn bits_F16(i: u32) -> u32 {
  let sign = (half(i) & 0x8000u) << 16u;
  let magnitude = half(i) & 0x7fffu;
  if (magnitude >= 0x7c00u) { return sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13u); }
  if (magnitude >= 0x400u) { return sign | ((magnitude << 13u) + 0x38000000u); }
  if (magnitude == 0u) { return sign; }
  let top = firstLeadingBit(magnitude);
  return sign | ((103u + top) << 23u) | ((magnitude << (23u - top)) & 0x7fffffu);
}

// Values 4 i … 4 i + 3.
fn four_F32(i: u32) -> vec4u { return vec4u(given[4u * i], given[4u * i + 1u], given[4u * i + 2u], given[4u * i + 3u]); }

fn four_BF16(i: u32) -> vec4u {
  let pairs = vec2u(given[2u * i], given[2u * i + 1u]);
  return vec4u(pairs.x << 16u, pairs.x & 0xffff0000u, pairs.y << 16u, pairs.y & 0xffff0000u);
}

fn four_F16(i: u32) -> vec4u { return vec4u(bits_F16(4u * i), bits_F16(4u * i + 1u), bits_F16(4u * i + 2u), bits_F16(4u * i + 3u)); }

// The nearest bf16, ties to even.
fn half_bf16(bits: u32) -> u32 { return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u; }

// The nearest f16, ties to even, of a value that it can hold.
fn half_f16(bits: u32) -> u32 {
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x38800000u) {
    return sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13u) & 1u)) >> 13u);
  }
  let exponent = magnitude >> 23u;
  if (exponent < 102u) { return sign; }
  // Subnormal: in units of 2^-24.
  let digits = (magnitude & 0x7fffffu) | 0x800000u;
  let shift = 126u - exponent;
  let whole = digits >> shift;
  let rest = digits & ((1u << shift) - 1u);
  let middle = 1u << (shift - 1u);
  return sign | (whole + u32(rest > middle || (rest == middle && (whole & 1u) == 1u)));
}

// x / k, to the nearest, of the bits of a positive f32 whose exponent is far from both ends; k is 15 or 127, so that there are no ties.
fn divided(x: u32, k: u32) -> u32 {
  let digits = (x & 0x7fffffu) | 0x800000u;
  var shift = firstLeadingBit(k) + 1u;
  if ((digits << shift) / k >= 0x1000000u) { shift -= 1u; }
  let quotient = (digits << shift) / k;
  let rest = (digits << shift) - quotient * k;
  return (((x >> 23u) - shift) << 23u) + (quotient - 0x800000u) + u32(2u * rest > k);
}

// `inverseOf` of weight-format.ts, of the bits of such an f32.
fn inverse_of(x: u32) -> f32 {
  let digits = ((x & 0x7fffffu) | 0x800000u) >> 8u;
  return f32(0x80000000u / digits) * bitcast<f32>((238u - (x >> 23u)) << 23u);
}

// Whether the arithmetic of groups is the host's for a largest value of these bits.
fn is_moderate(magnitude: u32) -> bool { return magnitude == 0u || (magnitude >= 0x0d800000u && magnitude < 0x71800000u); }

@compute @workgroup_size(64)
fn upload_values(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  if (thread >= P.count) { return; }
  let bits = four_${FROM}(thread);
  if (any((bits & vec4u(0x7fffffffu)) > vec4u(${LARGEST}u))) {
    decline();
    return;
  }
  if (${HALVES}u == 1u) {
    words[2u * thread] = ${HALF}(bits.x) | (${HALF}(bits.y) << 16u);
    words[2u * thread + 1u] = ${HALF}(bits.z) | (${HALF}(bits.w) << 16u);
  } else {
    // @for i in 4
    words[4u * thread + ${i}u] = bits[${i}];
    // @end
  }
}

@compute @workgroup_size(64)
fn upload_int8(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  if (thread >= P.count) { return; }
  let first = thread * P.group;
  var largest = 0u;
  for (var i = first; i < first + P.group; i++) { largest = max(largest, bits_${FROM}(i) & 0x7fffffffu); }
  if (!is_moderate(largest)) {
    decline();
    return;
  }
  var scale = 0u;
  var inverse = 0.0;
  if (largest > 0u) {
    scale = divided(largest, 127u);
    inverse = inverse_of(scale);
  }
  var to = thread * P.block;
  words[to] = scale;
  for (var i = first; i < first + P.group; i += 4u) {
    var word = 0u;
    // @for j in 4
    let q${j} = clamp(i32(round(bitcast<f32>(bits_${FROM}(i + ${j}u)) * inverse)), -127, 127);
    word |= (bitcast<u32>(q${j}) & 0xffu) << (8u * ${j}u);
    // @end
    to++;
    words[to] = word;
  }
}

@compute @workgroup_size(64)
fn upload_int4(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
  let thread = group_number(P.base, workgroup, groups) * 64u + local;
  if (thread >= P.count) { return; }
  let first = thread * P.group;
  var largest = 0u;
  var low = bits_${FROM}(first);
  var high = low;
  for (var i = first; i < first + P.group; i++) {
    let bits = bits_${FROM}(i);
    largest = max(largest, bits & 0x7fffffffu);
    if (bitcast<f32>(bits) < bitcast<f32>(low)) { low = bits; }
    if (bitcast<f32>(bits) > bitcast<f32>(high)) { high = bits; }
  }
  let offset = half_bf16(low);
  let base = bitcast<f32>(offset << 16u);
  let span = bitcast<u32>(bitcast<f32>(high) - base);
  if (!is_moderate(largest) || !is_moderate(span & 0x7fffffffu)) {
    decline();
    return;
  }
  var scale = 0u;
  if (span != 0u) { scale = half_bf16((span & 0x80000000u) | divided(span & 0x7fffffffu, 15u)); }
  var inverse = 0.0;
  if (scale > 0u && scale < 0x8000u) { inverse = inverse_of(scale << 16u); }
  var to = thread * P.block;
  words[to] = (scale << 16u) | offset;
  for (var i = first; i < first + P.group; i += 8u) {
    var word = 0u;
    // @for j in 8
    let q${j} = clamp(i32(round((bitcast<f32>(bits_${FROM}(i + ${j}u)) - base) * inverse)), 0, 15);
    word |= u32(q${j}) << (4u * ${j}u);
    // @end
    to++;
    words[to] = word;
  }
}
