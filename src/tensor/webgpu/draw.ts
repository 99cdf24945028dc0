import type { Backend } from "../backend.ts";
import { checkDrawTokens } from "../shapes.ts";
import type { Context } from "./context.ts";
import source from "./draw.wgsl?raw";
import type { GpuTensor } from "./memory.ts";

/** Ids whose sums one workgroup finds. */
const SEGMENT = 2048;

export function drawOperations({
  memory,
  commands,
  software,
}: Context): Pick<Backend<GpuTensor>, "drawTokens"> {
  // A software adapter has dear barriers: few threads, and more ids for each.
  const threads = software ? 8 : 256;
  const constants = { THREADS: threads, EACH: SEGMENT / threads };
  return {
    drawTokens(logits, draws) {
      const { sequences, vocabulary, longest, stops, ranges } = checkDrawTokens(logits, draws);
      const count = Math.ceil(vocabulary / SEGMENT);
      const segments = memory.allocate([sequences, count, 4], "f32");
      const floors = memory.allocate([sequences], "f32");
      const { temperatures, bounds, drawable, uniforms, limits, results, progress } = draws;
      const run = (entry: string, buffers: string, tensors: GpuTensor[], groups: number, work: number) =>
        commands.dispatch({
          kernel: { source, entry, buffers, constants },
          buffers: tensors,
          groups,
          uints: [sequences, vocabulary, count, longest, stops, ranges],
          work,
        });
      const given = [logits, temperatures, drawable];
      // Sequences without bounds end at once.
      run("draw_floors", "rrrrw", [...given, bounds, floors], sequences, 40 * sequences * vocabulary);
      const parts = [...given, floors, segments];
      run("draw_segments", "rrrrw", parts, sequences * count, 40 * sequences * vocabulary);
      const chosen = [...parts, uniforms, progress, results];
      run("draw_tokens", "rrrrrrrw", chosen, sequences, 20 * sequences * SEGMENT);
      const state = [progress, draws.ids, draws.positions, draws.rows, draws.ends];
      const moved = [results, limits, draws.stops, ...state];
      run("draw_moves_on", "rrrwwwww", moved, Math.ceil(sequences / 64), 20 * sequences);
      memory.free(segments);
      memory.free(floors);
    },
  };
}
