/** For each test that lets the file system fail: the modules in which it fails every call. `../file-faults.test.ts` has what is missing. */
export const FAULTED = {
  "src/node/whole-file.test.ts": ["src/node/append-file.ts", "src/node/whole-file.ts"],
  "src/cli/disk-faults.test.ts": [
    "src/cli/engine/save-model.ts",
    "src/cli/io.ts",
    "src/cli/live/alfworld-games.ts",
    "src/cli/live/play-run.ts",
    "src/cli/live/progress-log.ts",
    "src/cli/ranged-file.ts",
    "src/cli/write-catalog.ts",
  ],
  "src/cli/train/run-faults.test.ts": [
    "src/cli/train/checkpoints.ts",
    "src/cli/train/event-log.ts",
    "src/cli/train/run.ts",
  ],
  "src/cli/train/parent.test.ts": ["src/cli/train/parent.ts"],
  "src/engine/native/node-folder.test.ts": ["src/engine/native/node-folder.ts"],
  "src/worker/job/faults.test.ts": [
    "src/worker/job/begin-run.ts",
    "src/worker/job/job-record.ts",
    "src/worker/job/output.ts",
    "src/worker/job/queue.ts",
  ],
  "src/worker/job/local-launcher.test.ts": [
    "src/worker/job/local-launcher.ts",
    "src/worker/job/memory-kills.ts",
  ],
  "src/worker/job/input-file.test.ts": ["src/worker/job/input-file.ts"],
  "src/worker/disk-faults.test.ts": [
    "src/node/file-error.ts",
    "src/worker/files/inside.ts",
    "src/worker/files/shared-folder.ts",
    "src/worker/job/command.ts",
    "src/worker/job/job-folders.ts",
    "src/worker/job/log-tail.ts",
    "src/worker/job/open-store.ts",
    "src/worker/job/plan.ts",
    "src/worker/job/results.ts",
    "src/worker/job/store.ts",
    "src/worker/token-file.ts",
  ],
} as const;
