/**
 * How fast a model's folder opens on this machine's device, beside reading its files and nothing else: random bf16
 * weights, kept in each format, in turns. The files were written just before, so that both come from memory.
 *
 *     npm run bench -- loading [--model 1.7b] [--repeats 3] [--folder FOLDER] [--compute f32]
 *
 * `--folder` is where the model is written, by default below the folder for temporary files.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ModelScorer } from "../src/engine/native/index.ts";
import { openFolder } from "../src/engine/native/node.ts";
import type { WeightChoice } from "../src/tensor/index.ts";
import { openAdapter } from "./support/device.ts";
import { median } from "./support/median.ts";
import { readAlone, writeModel } from "./support/model-folder.ts";
import { numberOr, sizeNamed } from "./support/options.ts";
import { modelName } from "./support/qwen3-sizes.ts";

const { values } = parseArgs({
  options: {
    model: { type: "string", default: "1.7b" },
    repeats: { type: "string" },
    folder: { type: "string", default: tmpdir() },
    compute: { type: "string" },
  },
});
const repeats = numberOr(values.repeats, 3);
const config = sizeNamed(values.model);
const FORMATS = ["auto", "f32", "f16", "int8"] as const satisfies readonly WeightChoice[];

const folder = mkdtempSync(join(values.folder, "gcopd-bench-loading-"));
const { backend, toggles } = await openAdapter(values.compute);
try {
  await writeModel(folder, config);
  let bytes = 0;
  const works = new Map<string, () => Promise<unknown>>([
    ["reading alone", async () => (bytes = await readAlone(folder))],
    ...FORMATS.map((weights): [string, () => Promise<unknown>] => [
      weights === "auto" ? "as stored, bf16" : weights,
      async () => {
        const model = await ModelScorer.open(backend, openFolder(folder), { weights });
        await backend.sync();
        model.dispose();
      },
    ]),
  ]);
  const seconds = new Map([...works.keys()].map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < repeats; round++)
    for (const [name, work] of works) {
      const began = performance.now();
      await work();
      seconds.get(name)!.push((performance.now() - began) / 1000);
      console.error(`${name}: ${seconds.get(name)!.at(-1)!.toFixed(2)} s`);
    }
  const alone = median(seconds.get("reading alone")!);
  console.log(
    `${modelName(values.model)}, ${(bytes / 1e9).toFixed(2)} GB of bf16, on ${backend.description}. Toggles: ${toggles}. Medians of ${repeats}.\n`,
  );
  console.log("| kept as | seconds | GB/s | of reading alone |");
  console.log("| --- | ---: | ---: | ---: |");
  for (const [name, all] of seconds) {
    const time = median(all);
    console.log(
      `| ${name} | ${time.toFixed(2)} | ${(bytes / time / 1e9).toFixed(2)} | ${(alone / time).toFixed(2)} |`,
    );
  }
} finally {
  backend.dispose();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
