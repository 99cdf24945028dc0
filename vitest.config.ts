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
  "src/cli/live/disk-faults.test.ts",
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

/** Files whose tests touch no device, and leave nothing behind but modules and stubs: several share a process. */
const SHARING = ["src/{app,core,formats,text}/**/*.test.{ts,tsx}", "src/tensor/reference/**/*.test.ts"];

/**
 * Long files go first, so that no worker is left with one at the end. Those that share a process come one after the other,
 * since a worker ends it before any other file.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const place = LONG.findIndex((file) => moduleId.endsWith(`/${file}`));
      if (place >= 0) return place;
      return project.config.isolate ? LONG.length : LONG.length + 1;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "sharing",
          include: SHARING,
          // A process and the packages cost more than most of these files.
          isolate: false,
          setupFiles: ["test/support/own-modules.ts"],
        },
      },
      {
        extends: true,
        test: { name: "isolated", include: ["{src,test,scripts}/**/*.test.{ts,tsx}"], exclude: SHARING },
      },
    ],
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
