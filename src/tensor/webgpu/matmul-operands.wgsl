// Comes before the f32 kernels: their operands in f32, or in f16 packed two per u32 (core WGSL, no shader-f16), four at a time.
@group(0) @binding(1) var<storage, read> A: array<${A_TYPE}>;
@group(0) @binding(2) var<storage, read> B: array<${B_TYPE}>;
@group(0) @binding(3) var<storage, read_write> C: array<f32>;
// @for half in HALF
@group(0) @binding(4) var<storage, read> scale_a: array<f32>;
@group(0) @binding(5) var<storage, read> scale_b: array<f32>;
// @end

fn a_values(i: u32) -> vec4f { return ${A_VALUES}; }
fn b_values(i: u32) -> vec4f { return ${B_VALUES}; }
// What C is multiplied by.
fn product_scale() -> f32 { return ${SCALE}; }
