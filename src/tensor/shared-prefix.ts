/**
 * Which sequences begin with the same tokens, and what to compute once for them. A group is a TRUNK, one of the
 * sequences, whole, and BRANCHES, which take their first tokens from the trunk and go on alone: decisions of
 * one episode share their context up to where it differs.
 */

/** Fewer equal tokens than this are computed twice: a branch costs attention one more, partly filled block of keys. */
export const SHORTEST_PREFIX = 32;

export interface Branch {
  /** Place in the list of sequences. */
  index: number;
  /** Tokens taken from the trunk. */
  shared: number;
}

export interface Group {
  trunk: number;
  /** The one that shares most comes first. */
  branches: Branch[];
}

/** What a group needs to know of a sequence. */
export interface Tokens {
  ids: Uint32Array;
  /** At most so many of the first tokens may be taken from elsewhere: the row before the first response token is its own. */
  mostShared: number;
}

/** Number of equal tokens at the beginning. */
export function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && a[n] === b[n]) n++;
  return n;
}

/** A group of the trunk and all others, with what each shares with it. */
export function groupAround(sequences: readonly Tokens[], trunk: number, others: readonly number[]): Group {
  const branches = others.map((index) => ({
    index,
    shared: Math.min(
      commonLength(sequences[trunk]!.ids, sequences[index]!.ids),
      sequences[index]!.mostShared,
    ),
  }));
  // A stable sort: equal ones stay in the order given.
  return { trunk, branches: branches.sort((a, b) => b.shared - a.shared) };
}

/**
 * Deals the sequences `indices` into groups such that the most tokens are shared, in order of each group's first
 * sequence. Sequences that share fewer than `shortest` tokens with any other are groups without branches.
 *
 * In the tree of common prefixes (children of a node differ in the token after its `depth` common ones) the best total
 * is a recursion: a node's sequences either have one trunk, in one of its children, to which each other child gives
 * all its sequences (each shares `depth`) unless it does better alone, or each child is dealt alone.
 */
export function groupByPrefix(
  sequences: readonly Tokens[],
  indices: readonly number[],
  shortest = SHORTEST_PREFIX,
): Group[] {
  const sorted = [...indices].sort((a, b) => compare(sequences[a]!.ids, sequences[b]!.ids) || a - b);
  const common = sorted.map((index, i) =>
    i === 0 ? 0 : commonLength(sequences[sorted[i - 1]!]!.ids, sequences[index]!.ids),
  );
  const parts = deal(sorted, common, 0, sorted.length, shortest).apart;
  const groups: Group[] = [];
  for (const { trunk, members } of parts) {
    const others = members.filter((index) => index !== trunk).sort((a, b) => a - b);
    const group = groupAround(sequences, trunk, others);
    // Prompts too short to share what their sequences have in common stand alone.
    const few = group.branches.filter(({ shared }) => shared < shortest);
    groups.push({ trunk, branches: group.branches.filter(({ shared }) => shared >= shortest) });
    for (const { index } of few) groups.push({ trunk: index, branches: [] });
  }
  const first = ({ trunk, branches }: Group) => Math.min(trunk, ...branches.map(({ index }) => index));
  return groups.sort((a, b) => first(a) - first(b));
}

interface Part {
  trunk: number;
  members: number[];
}

interface Dealt {
  /** The best parts of these sequences, and the tokens that they share. */
  apart: Part[];
  saved: number;
  /** The best parts if the first has a trunk for sequences from outside, too. */
  open: Part[];
  openSaved: number;
}

/** The recursion of `groupByPrefix` over sorted[from … to-1]; common[i] is what sorted[i-1] and sorted[i] share. */
function deal(
  sorted: readonly number[],
  common: readonly number[],
  from: number,
  to: number,
  shortest: number,
): Dealt {
  if (to - from <= 1) {
    const parts = sorted.slice(from, to).map((trunk) => ({ trunk, members: [trunk] }));
    return { apart: parts, saved: 0, open: parts, openSaved: 0 };
  }
  let depth = Infinity;
  for (let i = from + 1; i < to; i++) depth = Math.min(depth, common[i]!);
  const cuts = [from];
  for (let i = from + 1; i < to; i++) if (common[i] === depth) cuts.push(i);
  cuts.push(to);
  const children = cuts.slice(0, -1).map((start, c) => ({
    size: cuts[c + 1]! - start,
    members: sorted.slice(start, cuts[c + 1]),
    ...deal(sorted, common, start, cuts[c + 1]!, shortest),
  }));
  const worth = depth >= shortest ? depth : 0;
  const joining = children.map(({ size, saved }) => Math.max(worth * size, saved));
  const all = joining.reduce((sum, value) => sum + value, 0);
  let best = 0;
  let openSaved = -1;
  for (const [c, child] of children.entries()) {
    const total = child.openSaved + all - joining[c]!;
    if (total > openSaved) [best, openSaved] = [c, total];
  }
  const [first, ...rest] = children[best]!.open;
  const trunk = { trunk: first!.trunk, members: [...first!.members] };
  const open = [trunk, ...rest];
  for (const [c, child] of children.entries()) {
    if (c === best) continue;
    if (worth * child.size > child.saved) trunk.members.push(...child.members);
    else open.push(...child.apart);
  }
  const saved = children.reduce((sum, child) => sum + child.saved, 0);
  if (saved >= openSaved) return { apart: children.flatMap((child) => child.apart), saved, open, openSaved };
  return { apart: open, saved: openSaved, open, openSaved };
}

/** Lexicographic order. */
function compare(a: Uint32Array, b: Uint32Array): number {
  const n = commonLength(a, b);
  if (n === a.length || n === b.length) return a.length - b.length;
  return a[n]! - b[n]!;
}
