/**
 * Runs kernels that multiply by matrices of a subgroup where no adapter has them: their text is rewritten to JavaScript,
 * threads are generators that stop at barriers, and the first thread of each 32 holds what the subgroup holds. u32 are
 * BigInts, which divide as they do; a name that is read before it is set is an error. Knows the WGSL of those kernels only.
 */

/** 16 bytes of a buffer: eight values of f16, or four of f32. */
export type Piece = number[];

/** A matrix that a subgroup holds, null in all threads but its first. */
type Fragment = { columns: number; values: Float32Array } | null;

/** Threads of a subgroup. */
const SUBGROUP = 32;
/** Rows of A and of C, and terms of a sum, in one matrix. */
const SIZE = 16;

/** Bindings by the names that the kernel gives them; the uniform's numbers under `P`. */
export interface Bound {
  readonly P: Readonly<Record<string, number>>;
  readonly [name: string]: Readonly<Record<string, number>> | Piece[] | number[];
}

const OPERATIONS = {
  select: <T>(no: T, yes: T, condition: boolean): T => (condition ? yes : no),
  min: (a: bigint, b: bigint) => (a < b ? a : b),
  bits: (piece: Piece): number[] => piece.slice(0, 4),
  times: (factor: number, values: number[]) => values.map((x) => Math.fround(factor * x)),
  plus: (a: number[], b: number[]) => a.map((x, i) => Math.fround(x + b[i]!)),
  zeros: (columns: number): Fragment => ({ columns, values: new Float32Array(SIZE * columns) }),
  load(
    columns: number,
    order: string,
    local: bigint,
    from: Piece[],
    offset: bigint,
    stride: bigint,
  ): Fragment {
    if (Number(local) % SUBGROUP !== 0) return null;
    const values = new Float32Array(SIZE * columns);
    const [at, step] = [8 * Number(offset), 8 * Number(stride)];
    for (let row = 0; row < SIZE; row++)
      for (let column = 0; column < columns; column++) {
        const i = at + (order === "row_major" ? row * step + column : column * step + row);
        const value = from[Math.floor(i / 8)]![i % 8];
        if (value === undefined) throw new Error(`value ${i} is not f16, or not there`);
        values[row * columns + column] = value;
      }
    return { columns, values };
  },
  multiplyAdd(a: Fragment, b: Fragment, c: Fragment): Fragment {
    if (a === null || b === null || c === null) return c;
    const { columns } = c;
    const values = c.values.slice();
    for (let row = 0; row < SIZE; row++)
      for (let column = 0; column < columns; column++) {
        let sum = values[row * columns + column]!;
        for (let k = 0; k < SIZE; k++) sum += a.values[row * SIZE + k]! * b.values[k * columns + column]!;
        values[row * columns + column] = sum;
      }
    return { columns, values };
  },
  scaled: (m: Fragment, factor: number): Fragment => m && { ...m, values: m.values.map((x) => factor * x) },
  store(local: bigint, to: Piece[], offset: bigint, m: Fragment, stride: bigint): void {
    if (m === null || Number(local) % SUBGROUP !== 0) return;
    const [at, step] = [4 * Number(offset), 4 * Number(stride)];
    for (let row = 0; row < SIZE; row++)
      for (let column = 0; column < m.columns; column++) {
        const i = at + row * step + column;
        const piece = Math.floor(i / 4);
        if (piece >= to.length) throw new Error(`value ${i} of f32 is past the end`);
        if (to[piece]!.length !== 4) to[piece] = [0, 0, 0, 0];
        to[piece]![i % 4] = m.values[row * m.columns + column]!;
      }
  },
} as const;

/** JavaScript of the kernel: a generator `main` of (group, local). */
function rewrite(wgsl: string, entry: string): string {
  return wgsl
    .replace(/\/\/.*$/gm, "")
    .replace(/^(enable|diagnostic).*$/gm, "")
    .replace(/struct Params \{[^}]*\}/, "")
    .replace(/^@group.*$/gm, "")
    .replace(/var<workgroup> tiles: array<vec4<u32>, (\w+)>;/, "")
    .replace(
      new RegExp(`@compute @workgroup_size\\(\\w+\\)\\s*fn ${entry}\\([^{]*\\) \\{`),
      "function* main(group_of, local) {",
    )
    .replace("group_number(P.base, workgroup, groups)", "group_of")
    .replace(/var (\w+): subgroup_matrix_result<f32, (\d+), 16>;/g, "let $1 = zeros($2);")
    .replace(/var (\w+): vec4f;/g, "let $1 = [0, 0, 0, 0];")
    .replace(/subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, (\w+)>\(&/g, 'load(16, "$1", local, ')
    .replace(/subgroupMatrixLoad<subgroup_matrix_right<f16, (\d+), 16>, (\w+)>\(&/g, 'load($1, "$2", local, ')
    .replace(/subgroupMatrixMultiplyAccumulate\(/g, "multiplyAdd(")
    .replace(/subgroupMatrixScalarMultiply\(/g, "scaled(")
    .replace(/subgroupMatrixStore<row_major>\(&/g, "store(local, ")
    .replace(/scale \* bitcast<vec4f>\((.*)\);/g, "times(scale, bits($1));")
    .replace(/= (old\d+) \+ value;/g, "= plus($1, value);")
    .replace(/workgroupBarrier\(\);/g, "yield;")
    .replace(/\blet\b(?! \w+ = (zeros|\[0))/g, "const")
    .replace(/\bvar\b/g, "let")
    .replace(/\b(\d+)u\b/g, "$1n");
}

interface Program {
  main: (group: bigint, local: bigint) => Generator<unknown, void>;
  /** Of a workgroup. */
  threads: number;
  /** Pieces of 16 bytes that a workgroup shares. */
  pieces: number;
}

function isProgram(value: unknown): value is Program {
  if (typeof value !== "object" || value === null) return false;
  const { main, threads, pieces } = { main: null, threads: null, pieces: null, ...value };
  return typeof main === "function" && Number.isInteger(threads) && Number.isInteger(pieces);
}

/**
 * Runs `groups` workgroups, one after the other. Buffers change in place.
 * @throws what JavaScript throws on text that it cannot read, or when threads do not reach the same barriers
 */
export function runKernel(wgsl: string, entry: string, bound: Bound, groups: number): void {
  const body = rewrite(wgsl, entry);
  const { P, ...buffers } = bound;
  const numbers = Object.fromEntries(Object.entries(P).map(([name, value]) => [name, BigInt(value)]));
  const names = [...Object.keys(OPERATIONS), "P", ...Object.keys(buffers), "tiles"];
  const make = new Function(
    ...names,
    `${body}\nreturn { main, threads: Number(THREADS), pieces: Number(TILES_SIZE) };`,
  );
  const tiles: Piece[] = [];
  const program: unknown = make(...Object.values(OPERATIONS), numbers, ...Object.values(buffers), tiles);
  if (!isProgram(program)) throw new Error(`${entry}: no program came of the text`);
  const { main, threads, pieces } = program;
  for (let group = 0; group < groups; group++) {
    // What a workgroup finds is not what another left.
    tiles.length = 0;
    for (let i = 0; i < pieces; i++) tiles.push(new Array<number>(8).fill(Number.NaN));
    const running: Generator<unknown, void>[] = Array.from({ length: threads }, (_, local) =>
      main(BigInt(group), BigInt(local)),
    );
    for (let done = 0; done < threads; ) {
      const ended = running.filter((thread) => thread.next().done).length;
      if (ended !== 0 && ended !== threads)
        throw new Error(`${ended} of ${threads} threads ended at a barrier`);
      done += ended;
    }
  }
}
