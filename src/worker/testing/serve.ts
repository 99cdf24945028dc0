/** A worker as a process of its own, to be killed by tests: prints where it is as one line of JSON. */
import { createWorker, LocalLauncher } from "../index.ts";

const [dataDir, pageDir, cli] = process.argv.slice(2);
const launcher = new LocalLauncher({ cli, graceMs: 400, pollMs: 20 });
const { url, token } = await createWorker({ port: 0, dataDir, pageDir, launcher });
process.stdout.write(`${JSON.stringify({ url, token })}\n`);
