/**
 * Writes the sample's library: the sources and episodes of ten recorded ScienceWorld tasks, the tokenizer, and the
 * manifest that the page opens. Lines are passed through byte for byte; only the choice of tasks is made here.
 *
 *     node scripts/run.mjs scripts/sample/library.ts
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { KEPT_OUT_TASKS, SAMPLE_TASKS } from "./tasks.ts";

const FROM = "test/fixtures";
const TO = "public/sample";

/** Lines of a fixture whose task is in the sample, in the sample's order of tasks. */
function chosenLines(file: string): string[] {
  const lines = gunzipSync(readFileSync(`${FROM}/scienceworld/${file}`))
    .toString("utf8")
    .split("\n")
    .filter(Boolean);
  const byTask = new Map<string, string[]>(SAMPLE_TASKS.map((task) => [task, []]));
  for (const line of lines) byTask.get((JSON.parse(line) as { task: string }).task)?.push(line);
  for (const [task, chosen] of byTask)
    if (chosen.length === 0) throw new Error(`${file}: no record of ${task}`);
  return [...byTask.values()].flat();
}

mkdirSync(`${TO}/tokenizer`, { recursive: true });
for (const file of ["sources.jsonl.gz", "episodes.jsonl.gz"]) {
  const lines = chosenLines(file);
  writeFileSync(`${TO}/${file}`, gzipSync(`${lines.join("\n")}\n`, { level: 9 }));
  console.log(`${file}: ${lines.length} records`);
}
for (const file of ["tokenizer.json", "tokenizer_config.json"]) {
  copyFileSync(`${FROM}/models/tokenizer/${file}`, `${TO}/tokenizer/${file}`);
}
const manifest = {
  title: "Ten ScienceWorld tasks",
  sources: "sources.jsonl.gz",
  episodes: "episodes.jsonl.gz",
  tokenizer: "tokenizer",
  teacher: "teacher",
  student: "student",
  kept_out_tasks: KEPT_OUT_TASKS,
};
writeFileSync(`${TO}/manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`);
