/** `npm run soak -- --minutes N [--seed N]`: prints a line per round and the report as JSON; fails when anything did not hold. */
import { parseArgs } from "node:util";
import { openGpu } from "../webgpu.ts";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "30" }, seed: { type: "string", default: "1" } },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error("usage: npm run soak -- [--minutes N] [--seed N]");
  process.exit(2);
}
const report = await soak({
  gpu: await openGpu(),
  seconds: minutes * 60,
  seed,
  onLine: (line) => console.error(line),
});
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.faults.length === 0 ? 0 : 1;
