// The order of panels (see half.wgsl).
// Row and first column of a piece of eight values.
fn place(piece: u32) -> vec2u {
  let here = piece % (P.panel_rows * 4u);
  let slot = here / 4u;
  let row = (slot & ~7u) | ((slot & 1u) << 2u) | ((slot >> 1u) & 3u);
  return vec2u(row, piece / (P.panel_rows * 4u) * 32u + here % 4u * 8u);
}
