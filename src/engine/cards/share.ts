/** How work is shared out among cards. Costs are tokens; those that neighbours share count once. */

/** A prompt with its response, as far as dealing goes. */
export interface Shared {
  promptIds: readonly number[];
  responseIds: readonly number[];
}

/** Places of neighbours that are worked on together, and their tokens. */
export interface Share {
  places: number[];
  cost: number;
}

/** Units of less are not worth a message. */
const LEAST_TOKENS = 4096;
/** Units per card, so that one that is slow or late holds nobody up for long. */
const UNITS_A_CARD = 8;

/**
 * Cuts a list into units of neighbours for cards that each take the next when they are free: the dearest first. Requests
 * that share a prompt's first half stay together unless they are more than one card's fair part.
 */
export function scoringUnits(requests: readonly Shared[], cards: number): Share[] {
  const groups = prefixGroups(requests);
  const total = groups.reduce((sum, { cost }) => sum + cost, 0);
  const most = total / cards;
  const enough = Math.max(Math.min(LEAST_TOKENS, most), total / (cards * UNITS_A_CARD));
  const units: Share[] = [];
  for (const part of groups.flatMap((group) => cutGroup(requests, group, most))) {
    const last = units.at(-1);
    if (last !== undefined && last.cost + part.cost <= enough) {
      last.places.push(...part.places);
      last.cost += part.cost;
    } else units.push({ places: [...part.places], cost: part.cost });
  }
  return units.sort((a, b) => b.cost - a.cost);
}

/** Above this, groups are taken apart: the dearest card holds the others up. */
const UNEVEN = 1.05;

/**
 * One share a card, of about as many tokens, each in the order of the list. Shared prompts stay on one card where that
 * leaves no card much behind.
 */
export function evenShares(items: readonly Shared[], cards: number): Share[] {
  const whole = deal(prefixGroups(items), cards);
  const dearest = Math.max(...whole.map(({ cost }) => cost));
  const total = whole.reduce((sum, { cost }) => sum + cost, 0);
  if (dearest <= (UNEVEN * total) / cards) return whole;
  const single = deal(
    items.map((item, place) => ({ places: [place], cost: tokensOf(item) })),
    cards,
  );
  return Math.max(...single.map(({ cost }) => cost)) < dearest ? single : whole;
}

/**
 * The places of one share per card, as equal in number as can be, each in the order of the list. An id stays on the card
 * that had it `before` while there is room: the card has kept the beginning of its prompt.
 */
export function steadyShares(
  ids: readonly string[],
  cards: number,
  before: ReadonlyMap<string, number>,
): number[][] {
  const shares = Array.from({ length: cards }, (): number[] => []);
  const most = Math.ceil(ids.length / cards);
  const moved = ids.flatMap((id, place) => {
    const share = shares[before.get(id) ?? cards];
    if (share === undefined || share.length === most) return [place];
    share.push(place);
    return [];
  });
  for (const place of moved) shares.reduce((a, b) => (b.length < a.length ? b : a)).push(place);
  return shares.map((places) => places.sort((a, b) => a - b));
}

/** The dearest first, each to the card that has least. */
function deal(groups: readonly Share[], cards: number): Share[] {
  const shares = Array.from({ length: cards }, (): Share => ({ places: [], cost: 0 }));
  for (const { places, cost } of groups.toSorted((a, b) => b.cost - a.cost)) {
    const least = shares.reduce((a, b) => (b.cost < a.cost ? b : a));
    least.places.push(...places);
    least.cost += cost;
  }
  for (const share of shares) share.places.sort((a, b) => a - b);
  return shares;
}

function tokensOf({ promptIds, responseIds }: Shared): number {
  return promptIds.length + responseIds.length;
}

/** Runs of neighbours whose prompts begin with the first half of the run's first prompt. */
function prefixGroups(requests: readonly Shared[]): Share[] {
  const groups: Share[] = [];
  let shared: readonly number[] = [];
  for (const [place, request] of requests.entries()) {
    const half = Math.ceil(shared.length / 2);
    const last = groups.at(-1);
    if (last !== undefined && half > 0 && beginsWith(request.promptIds, shared, half)) {
      last.places.push(place);
      last.cost += tokensOf(request) - half;
    } else {
      groups.push({ places: [place], cost: tokensOf(request) });
      shared = request.promptIds;
    }
  }
  return groups;
}

function beginsWith(ids: readonly number[], prefix: readonly number[], count: number): boolean {
  if (ids.length < count) return false;
  for (let i = 0; i < count; i++) if (ids[i] !== prefix[i]) return false;
  return true;
}

/** A group in parts of at most about `most` tokens each, of about as many requests. */
function cutGroup(requests: readonly Shared[], group: Share, most: number): Share[] {
  const parts = Math.min(group.places.length, Math.ceil(group.cost / most - 1e-9));
  if (parts <= 1) return [group];
  const each = Math.ceil(group.places.length / parts);
  const cut: Share[] = [];
  for (let at = 0; at < group.places.length; at += each) {
    const places = group.places.slice(at, at + each);
    const [only] = prefixGroups(places.map((place) => requests[place]!));
    cut.push({ places, cost: only!.cost });
  }
  return cut;
}
