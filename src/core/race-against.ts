/**
 * Races pieces of work against one promise that outlives them. `Promise.race` keeps a reaction on that promise for each
 * race, and the race's result with it, for as long as the promise lives: some 300 bytes, and a long run waits for its device
 * millions of times.
 *
 * @returns settles as the work does, or as `lasting` where that comes first
 */
export function raceAgainst<L>(lasting: Promise<L>): <R>(work: Promise<R>) => Promise<R | L> {
  let isSettled = false;
  const lost = new Set<() => void>();
  const settle = (): void => {
    isSettled = true;
    for (const lose of lost) lose();
    lost.clear();
  };
  lasting.then(settle, settle);
  return (work) =>
    new Promise((resolve, reject) => {
      const lose = () => resolve(lasting);
      work.then(resolve, reject).finally(() => lost.delete(lose));
      if (isSettled) lose();
      else lost.add(lose);
    });
}
