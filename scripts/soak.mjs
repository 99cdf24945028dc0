// Scoring and training for a long time under forced device losses and allocation failures: `npm run soak -- --minutes 30`.
import { run } from "./run.mjs";

process.exitCode = await run("test/soak/main.ts", process.argv.slice(2));
