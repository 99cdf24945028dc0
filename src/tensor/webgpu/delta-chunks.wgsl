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
// [C, C]; tiles of 4 × 4 above the diagonal are neither written nor read.
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
