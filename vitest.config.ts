import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "src/**/*.test.tsx", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    // Ends what hangs; how fast the machine is decides nothing.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 60_000 } },
    // Two heavy software-GPU suites at once only slow each other down on small machines.
    pool: "forks",
    maxWorkers: 2,
  },
});
