// Damages recordings at random and imports them: `npm run fuzz -- --count 200000 --seed 1`; with `--models` the files of
// models, their archives and a hub's listing. Each input follows from its seed and number alone (`--from N --count 1`
// repeats one). Ends with 1 when an input made the program crash, take more than 10 s or 1 GiB, answer with anything but
// records or one clear line, or write records that it cannot read.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./run.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
// Inside node_modules, so that packages resolve as they do for the repository's own files.
const folder = mkdtempSync(join(root, "node_modules", ".fuzz-"));
try {
  for (const name of ["main", "worker"]) await bundle(`test/fuzz/${name}.ts`, join(folder, `${name}.mjs`));
  const { status } = spawnSync(
    process.execPath,
    ["--enable-source-maps", join(folder, "main.mjs"), ...process.argv.slice(2)],
    { stdio: "inherit", cwd: root },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
