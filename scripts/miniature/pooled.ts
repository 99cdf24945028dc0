/** The registered comparisons over worlds and training seeds, from the results of each world's experiment. */
import { holm, type OverSeeds, overSeeds, pairedP } from "../../src/core/evaluation/training-seeds.ts";

/** Success of one trained student on the unseen tasks of its world, in percent. */
export interface Unit {
  world: number;
  seed: number;
  method: string;
  success: number;
}

export interface PooledMethod {
  method: string;
  label: string;
  /** Over all pairs of a world and a training seed. */
  over: OverSeeds;
  by_world: { world: number; n: number; mean: number }[];
}

export interface PooledDifference {
  /** Differences are of `a` less `b`, in percentage points. */
  a: string;
  b: string;
  /** Over the pairs of a world and a training seed that both have. */
  over: OverSeeds;
  /** Of the paired t-test over these, and after Holm over the comparisons of its kind; null where nothing varies. */
  p: number | null;
  p_holm: number | null;
  by_world: { world: number; n: number; mean: number }[];
}

export function pooledMethods(
  methods: readonly { id: string; label: string }[],
  units: readonly Unit[],
): PooledMethod[] {
  return methods.flatMap(({ id, label }) => {
    const own = units.filter(({ method }) => method === id);
    if (own.length === 0) return [];
    const values = own.map(({ world, success }) => ({ world, value: success }));
    return [{ method: id, label, ...pooled(values) }];
  });
}

/** Pairs without a unit in common are left out. */
export function pooledDifferences(
  pairs: readonly (readonly [a: string, b: string])[],
  units: readonly Unit[],
): PooledDifference[] {
  const found = pairs.flatMap(([a, b]): PooledDifference[] => {
    const values = units.flatMap(({ method, world, seed, success }) => {
      const other = units.find((each) => each.method === b && each.world === world && each.seed === seed);
      return method !== a || other === undefined ? [] : [{ world, value: success - other.success }];
    });
    if (values.length === 0) return [];
    const { over, by_world } = pooled(values);
    return [{ a, b, over, p: pairedP(over), p_holm: null, by_world }];
  });
  holm(found);
  return found;
}

function pooled(values: readonly { world: number; value: number }[]) {
  const worlds = [...new Set(values.map(({ world }) => world))];
  return {
    over: overSeeds(values.map(({ value }) => value)),
    by_world: worlds.map((world) => {
      const { n, mean } = overSeeds(values.flatMap((each) => (each.world === world ? [each.value] : [])));
      return { world, n, mean };
    }),
  };
}
