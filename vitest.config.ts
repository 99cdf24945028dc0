import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes. */
const LONG = [
  "src/cli/experiment/grid.test.ts",
  "src/tensor/webgpu/goldens.test.ts",
  "src/cli/experiment/killed.test.ts",
  "src/cli/commands/demo.test.ts",
  "src/tensor/webgpu/attention.test.ts",
  "test/soak/soak.test.ts",
  "src/tensor/goldens.test.ts",
  "src/worker/job/faults.test.ts",
  "src/cli/train/run-faults.test.ts",
  "src/engine/cards/cards.test.ts",
  "src/tensor/memory-plan.test.ts",
  "src/tensor/webgpu/linear.test.ts",
  "src/tensor/decoder.test.ts",
  "test/fuzz/fuzz.test.ts",
  "test/standard-streams.test.ts",
  "src/cli/commands/launch.test.ts",
  "src/worker/launch/launch.test.ts",
];

/** Long files go first, so that no worker is left with one at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((file) => moduleId.endsWith(`/${file}`));
      return place === -1 ? LONG.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "src/**/*.test.tsx", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    sequence: { sequencer: LongFirst },
    // Ends what hangs; how fast the machine is decides nothing.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 60_000 } },
    // Three even on two processors, since many tests wait for other processes; more software-GPU suites at once only slow
    // each other down.
    pool: "forks",
    maxWorkers: Math.min(4, Math.max(3, Math.floor(availableParallelism() / 2))),
  },
});
