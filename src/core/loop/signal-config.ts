/** What a signal needs of the rest of a config. */
import { InputError } from "../errors.ts";
import type { Stage } from "../method/method.ts";

/** The first key of a stage that works on the advantage of sampled tokens, which a divergence does not have; undefined if none does. */
export function needsSampledToken({ reward, bridge, weights }: Stage): string | undefined {
  const own = weights?.kind === "turn-balanced" ? undefined : weights;
  return Object.entries({ reward, bridge, weights: own }).find(([, value]) => value !== undefined)?.[0];
}

/**
 * Refuses divergences where a server does not return the distributions, and where the rest of the stage works on the
 * advantage of sampled tokens, which a divergence does not have.
 *
 * @param servers what is on a server
 * @throws InputError naming the stage
 */
export function checkSignals(
  stages: readonly Stage[],
  servers: { teacher: boolean; student: boolean },
): void {
  for (const stage of stages) {
    const { name, signal } = stage;
    if (signal === undefined || signal.kind === "sampled-token") continue;
    const key = needsSampledToken(stage);
    if (key !== undefined) {
      throw new InputError(
        `stage ${JSON.stringify(name)}: \`${key}\` needs the signal "sampled-token", received ` +
          JSON.stringify(signal.kind),
        { key: "stages" },
      );
    }
    for (const role of ["teacher", "student"] as const) {
      if (!servers[role]) continue;
      const lacks =
        role === "teacher"
          ? "tells log-probabilities of sampled tokens only"
          : "trains on sampled tokens only";
      throw new InputError(
        `stage ${JSON.stringify(name)}: a ${role} on a server ${lacks}: expected the signal "sampled-token", received ` +
          JSON.stringify(signal.kind),
        { key: "stages" },
      );
    }
  }
}
