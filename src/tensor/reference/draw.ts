import type { Backend } from "../backend.ts";
import { drawGreedy, drawSample } from "../sampling.ts";
import { checkDrawTokens } from "../shapes.ts";
import type { HostTensor } from "./memory.ts";

export function drawOperations(): Pick<Backend<HostTensor>, "drawTokens"> {
  return {
    drawTokens(logits, draws) {
      const { sequences, vocabulary, longest, ranges } = checkDrawTokens(logits, draws);
      const { temperatures, bounds, uniforms, limits, stops, results, progress, ids } = draws;
      const drawable = Array.from({ length: ranges }, (_, r): [number, number] => [
        draws.drawable.u32[2 * r]!,
        draws.drawable.u32[2 * r + 1]!,
      ]);
      for (let m = 0; m < sequences; m++) {
        if (progress.f32[2 * m + 1] === 0) continue;
        const drawn = progress.f32[2 * m]!;
        const row = logits.f32.subarray(m * vocabulary, (m + 1) * vocabulary);
        const temperature = temperatures.f32[m]!;
        const { id, logprob } =
          temperature === 0
            ? drawGreedy(row, drawable)
            : drawSample(row, temperature, uniforms.f32[m * longest + drawn]!, drawable, {
                ...(bounds.f32[2 * m] === 0 ? {} : { topK: bounds.f32[2 * m]! }),
                ...(bounds.f32[2 * m + 1] === 1 ? {} : { topP: bounds.f32[2 * m + 1]! }),
              });
        results.f32.set([id, logprob], (m * longest + drawn) * 2);
        const goesOn = drawn + 1 < limits.u32[m]! && !stops.u32.includes(id);
        progress.f32.set([drawn + 1, goesOn ? 1 : 0], 2 * m);
        if (!goesOn) continue;
        ids.u32[m] = id;
        for (const { u32 } of [draws.positions, draws.rows, draws.ends]) u32[m] = u32[m]! + 1;
      }
    },
  };
}
