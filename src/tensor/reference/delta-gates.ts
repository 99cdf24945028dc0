import type { Backend } from "../backend.ts";
import { checkDeltaGates, checkDeltaGatesBackward } from "../delta-shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

export function deltaGateOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "deltaGates" | "deltaGatesBackward"> {
  return {
    deltaGates(a, b, aLog, bias) {
      const { tokens, heads } = checkDeltaGates("deltaGates", a, b, aLog, bias);
      const gates = memory.zeros([tokens, heads, 2]);
      for (let i = 0; i < tokens * heads; i++) {
        const n = i % heads;
        gates.f32[2 * i] = -Math.exp(aLog.f32[n]!) * softplus(a.f32[i]! + bias.f32[n]!);
        gates.f32[2 * i + 1] = sigmoid(b.f32[i]!);
      }
      return gates;
    },

    // da = −exp(aLog) sigmoid(a + bias) dg, dbias = Σ da, daLog = Σ g dg, db = β (1 − β) dβ.
    deltaGatesBackward(daLog, dbias, dgates, a, b, aLog, bias) {
      const { tokens, heads } = checkDeltaGatesBackward(daLog, dbias, dgates, a, b, aLog, bias);
      const da = memory.zeros(a.shape);
      const db = memory.zeros(b.shape);
      const [logSums, biasSums] = [new Float64Array(heads), new Float64Array(heads)];
      for (let i = 0; i < tokens * heads; i++) {
        const n = i % heads;
        const rate = Math.exp(aLog.f32[n]!);
        const x = a.f32[i]! + bias.f32[n]!;
        const dg = dgates.f32[2 * i]!;
        const slope = -rate * sigmoid(x) * dg;
        da.f32[i] = slope;
        biasSums[n]! += slope;
        logSums[n]! -= rate * softplus(x) * dg;
        const beta = sigmoid(b.f32[i]!);
        db.f32[i] = beta * (1 - beta) * dgates.f32[2 * i + 1]!;
      }
      for (let n = 0; n < heads; n++) {
        daLog.f32[n] = daLog.f32[n]! + logSums[n]!;
        dbias.f32[n] = dbias.f32[n]! + biasSums[n]!;
      }
      return { da, db };
    },
  };
}
