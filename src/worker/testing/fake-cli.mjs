// Stands for the command line in tests: what its config names as episodes says what it does, if its name ends in .fake. It keeps a
// checkpoint in --out and goes on from it, prints progress as JSON lines, and notes in `runs` each time it was started.
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const args = process.argv.slice(2);
const option = (name) => args[args.indexOf(name) + 1];
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const { episodes } = args[0] === "train" ? read(option("--config")) : {};
const config = `${episodes}`.endsWith(".fake") ? read(resolve(dirname(option("--config")), episodes)) : {};
const out = option("--out");
mkdirSync(out, { recursive: true });
appendFileSync(join(out, "runs"), `${process.pid} ${args.join(" ")}\n`);

if (config.ignoreTerm) process.on("SIGTERM", () => console.log("asked to stop"));
const checkpoint = join(out, "checkpoint.json");
let step = existsSync(checkpoint) ? read(checkpoint).step : 0;
console.log(`starting at ${step}`);
if (config.interrupted) {
  process.kill(process.pid, "SIGTERM");
  await sleep(10_000);
}
for (const object of config.prints ?? []) console.log(JSON.stringify(object));
while (step < config.steps) {
  await sleep(config.delay ?? 5);
  // A file that a test removes to let the run go on.
  while (step === config.holdAt && existsSync(config.hold)) await sleep(10);
  step += 1;
  writeFileSync(`${checkpoint}.part`, JSON.stringify({ step }));
  renameSync(`${checkpoint}.part`, checkpoint);
  console.log(JSON.stringify({ event: "step", step, steps: config.steps }));
  if (step === config.failAt && !existsSync(join(out, "failed"))) {
    writeFileSync(join(out, "failed"), "");
    console.error("gcopd: config.json, lr: expected a number");
    process.exit(1);
  }
  if (step === config.budgetAt && !args.includes("--hours")) {
    console.error("ended by its budget after step 1 of 2");
    process.exit(3);
  }
  if (step === config.crashAt) process.kill(process.pid, "SIGKILL");
}
process.stdout.write("the end, without a newline");
