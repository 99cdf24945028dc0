import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "src/**/*.test.tsx", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    testTimeout: 60_000,
    // Two heavy software-GPU suites at once only slow each other down on small machines.
    pool: "forks",
    maxWorkers: 2,
  },
});
