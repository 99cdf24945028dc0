import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/plural.ts";
import { buildIndex, indexFileName, openIndexedLibrary } from "../../formats/indexed/index.ts";
import { rangedChunks } from "../../formats/ranged-reader.ts";
import { onFile } from "../../node/file-error.ts";
import { writeIndexFile } from "../indexed-file.ts";
import { printLine } from "../io.ts";
import { openRanged } from "../ranged-file.ts";

export function register(program: Command): void {
  program
    .command("index")
    .description(
      "Build the index of a library or an episode file: FILE.index.jsonl beside it, with the place of each record, so " +
        "that other commands and the page read one task at a time. Commands do this by themselves for files of 16 MiB " +
        "and more, and again when the file has changed. Records are checked in full when they are read, or by validate.",
    )
    .argument("<file...>", "sources or episodes, not compressed")
    .action(run);
}

async function run(paths: string[]): Promise<void> {
  for (const path of paths) {
    if (path === "-") throw new InputError("expected a file: what comes from standard input has no place");
    const file = await openRanged(path);
    try {
      if (!file.original) {
        throw new InputError(
          "is compressed or a pipe, which can only be read from its start: unpack it first",
          {
            file: path,
          },
        );
      }
      const start = performance.now();
      const index = await buildIndex(rangedChunks(file), { file: path });
      if (index.tasks.length === 0) throw new InputError("holds no records", { file: path });
      await writeIndexFile(path, file, index);
      const seconds = (performance.now() - start) / 1000;
      const { tasks, sources, episodes, decisions } = openIndexedLibrary(file, index).counts;
      const name = indexFileName(path);
      const { size } = await onFile(name, "read", stat(name));
      printLine(
        `${name}: ${countOf(sources, "source")}, ${countOf(episodes, "episode")}, ` +
          `${countOf(decisions, "decision")} of ${countOf(tasks, "task")}; ` +
          `${sizeText(size)} of index for ${sizeText(file.size)}, in ${seconds.toFixed(2)} s`,
      );
    } finally {
      await file.close();
    }
  }
}

function sizeText(bytes: number): string {
  if (bytes < 1e5) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
}
