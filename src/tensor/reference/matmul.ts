/** A matrix inside an array: element (i, j) lies at offset + i·row + j·column. */
export interface MatrixView {
  data: Float32Array;
  offset: number;
  row: number;
  column: number;
}

/** [rows, columns] in row-major order, from `offset` on. */
export function matrix(data: Float32Array, columns: number, offset = 0): MatrixView {
  return { data, offset, row: columns, column: 1 };
}

/** The same values with rows and columns exchanged: nothing is copied. */
export function transposed(view: MatrixView): MatrixView {
  return { ...view, row: view.column, column: view.row };
}

const TILE = 4;

/** Panels of four rows, column by column, zero where the matrix ends: what the register tile reads in order. */
function pack(view: MatrixView, from: number, end: number, depth: number, out: Float32Array): void {
  const { data, row, column } = view;
  let at = 0;
  for (let panel = from; panel < end; panel += TILE) {
    const height = Math.min(TILE, end - panel);
    const start = view.offset + panel * row;
    for (let p = 0; p < depth; p++) {
      const source = start + p * column;
      for (let i = 0; i < TILE; i++) out[at++] = i < height ? data[source + i * row]! : 0;
    }
  }
}

/**
 * c[M,N] (+)= a[M,K] · b[K,N], sums in f64. The columns of c lie side by side (c.column is 1).
 * Both operands are packed into panels of four, then 4×4 values of c are held in registers over all of K.
 */
export function multiply(
  c: MatrixView,
  a: MatrixView,
  b: MatrixView,
  m: number,
  n: number,
  k: number,
  accumulate: boolean,
): void {
  if (m === 0 || n === 0) return;
  if (m < TILE && b.row === 1 && a.column === 1) {
    multiplyFewRows(c, a, b, m, n, k, accumulate);
    return;
  }
  const panelSize = TILE * k;
  const left = new Float32Array(Math.ceil(m / TILE) * panelSize);
  pack(a, 0, m, k, left);
  const right = new Float32Array(panelSize);
  const columns = transposed(b);
  for (let j = 0; j < n; j += TILE) {
    const width = Math.min(TILE, n - j);
    pack(columns, j, j + width, k, right);
    for (let i = 0; i < m; i += TILE) {
      tile(left, (i / TILE) * panelSize, right, k);
      const height = Math.min(TILE, m - i);
      for (let y = 0; y < height; y++) {
        const at = c.offset + (i + y) * c.row + j;
        for (let x = 0; x < width; x++)
          c.data[at + x] = result[y * TILE + x]! + (accumulate ? c.data[at + x]! : 0);
      }
    }
  }
}

const result = new Float64Array(TILE * TILE);

/** Leaves the product of two panels in `result`. */
function tile(left: Float32Array, leftAt: number, right: Float32Array, k: number): void {
  let s00 = 0;
  let s01 = 0;
  let s02 = 0;
  let s03 = 0;
  let s10 = 0;
  let s11 = 0;
  let s12 = 0;
  let s13 = 0;
  let s20 = 0;
  let s21 = 0;
  let s22 = 0;
  let s23 = 0;
  let s30 = 0;
  let s31 = 0;
  let s32 = 0;
  let s33 = 0;
  const end = leftAt + TILE * k;
  for (let p = leftAt, q = 0; p < end; p += TILE, q += TILE) {
    const b0 = right[q]!;
    const b1 = right[q + 1]!;
    const b2 = right[q + 2]!;
    const b3 = right[q + 3]!;
    const a0 = left[p]!;
    s00 += a0 * b0;
    s01 += a0 * b1;
    s02 += a0 * b2;
    s03 += a0 * b3;
    const a1 = left[p + 1]!;
    s10 += a1 * b0;
    s11 += a1 * b1;
    s12 += a1 * b2;
    s13 += a1 * b3;
    const a2 = left[p + 2]!;
    s20 += a2 * b0;
    s21 += a2 * b1;
    s22 += a2 * b2;
    s23 += a2 * b3;
    const a3 = left[p + 3]!;
    s30 += a3 * b0;
    s31 += a3 * b1;
    s32 += a3 * b2;
    s33 += a3 * b3;
  }
  result[0] = s00;
  result[1] = s01;
  result[2] = s02;
  result[3] = s03;
  result[4] = s10;
  result[5] = s11;
  result[6] = s12;
  result[7] = s13;
  result[8] = s20;
  result[9] = s21;
  result[10] = s22;
  result[11] = s23;
  result[12] = s30;
  result[13] = s31;
  result[14] = s32;
  result[15] = s33;
}

/** One to three rows (decoding): packing would cost as much as the product, so four columns of b are read at once. */
function multiplyFewRows(
  c: MatrixView,
  a: MatrixView,
  b: MatrixView,
  m: number,
  n: number,
  k: number,
  accumulate: boolean,
): void {
  const x = a.data;
  const w = b.data;
  const out = c.data;
  const stride = b.column;
  for (let i = 0; i < m; i++) {
    const xAt = a.offset + i * a.row;
    const to = c.offset + i * c.row;
    let j = 0;
    for (; j + TILE <= n; j += TILE) {
      const w0 = b.offset + j * stride;
      const w1 = w0 + stride;
      const w2 = w1 + stride;
      const w3 = w2 + stride;
      let s0 = 0;
      let s1 = 0;
      let s2 = 0;
      let s3 = 0;
      for (let p = 0; p < k; p++) {
        const value = x[xAt + p]!;
        s0 += value * w[w0 + p]!;
        s1 += value * w[w1 + p]!;
        s2 += value * w[w2 + p]!;
        s3 += value * w[w3 + p]!;
      }
      out[to + j] = s0 + (accumulate ? out[to + j]! : 0);
      out[to + j + 1] = s1 + (accumulate ? out[to + j + 1]! : 0);
      out[to + j + 2] = s2 + (accumulate ? out[to + j + 2]! : 0);
      out[to + j + 3] = s3 + (accumulate ? out[to + j + 3]! : 0);
    }
    for (; j < n; j++) {
      const wAt = b.offset + j * stride;
      let s = 0;
      for (let p = 0; p < k; p++) s += x[xAt + p]! * w[wAt + p]!;
      out[to + j] = s + (accumulate ? out[to + j]! : 0);
    }
  }
}
