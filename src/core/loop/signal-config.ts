/** What a signal needs of the rest of a config. */
import { InputError } from "../errors.ts";
import type { Stage } from "../method/method.ts";

/**
 * Refuses divergences where a server does not tell the distributions, and where the rest of the stage works on the
 * advantage of sampled tokens, which a divergence does not have.
 *
 * @param servers what is on a server
 * @throws InputError naming the stage
 */
export function checkSignals(
  stages: readonly Stage[],
  servers: { teacher: boolean; student: boolean },
): void {
  for (const { name, signal, reward, bridge, weights } of stages) {
    if (signal === undefined || signal.kind === "sampled-token") continue;
    const own = weights?.kind === "turn-balanced" ? undefined : weights;
    for (const [key, value] of Object.entries({ reward, bridge, weights: own })) {
      if (value === undefined) continue;
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
