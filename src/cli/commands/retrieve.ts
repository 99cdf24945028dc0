import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/plural.ts";
import { retrieveEpisode } from "../../core/retrieval/retrieve.ts";
import { readRecords } from "../../formats/read.ts";
import { explanationRecord } from "../explanation-record.ts";
import { checkOut, fileLabel, openBytes, progress, writeRecordsOut } from "../io.ts";
import { checkStandardInput, openPreparedLibrary } from "../prepared-library.ts";
import { addSelectionOptions, type SelectionOptions, selectionOf } from "../selection-options.ts";

interface Options extends SelectionOptions {
  library: string;
  episodes: string;
  out?: string;
  explain?: boolean;
}

export function register(program: Command): void {
  const command = program
    .command("retrieve")
    .description(
      "For every decision of every episode, in order: matched visits, ranked candidates, the winner, and the " +
        "successful and failed records that are retained (one retrieval record per line). A task that the library " +
        "does not have is retrieved over no sources, with a warning.",
    )
    .requiredOption("--library <file>", "source records (.jsonl, .jsonl.gz, or - for standard input)")
    .requiredOption("--episodes <file>", "student episodes (.jsonl, .jsonl.gz, or -)")
    .option("--out <file>", "where to write (.gz is compressed); standard output if absent")
    .option("--explain", "add the explanation of each decision under the key `explanation`")
    .action(run);
  addSelectionOptions(command);
}

async function run(options: Options): Promise<void> {
  const selection = selectionOf(options);
  checkStandardInput(options.library, options.episodes);
  await checkOut(options.out, options.library, options.episodes);
  const library = await openPreparedLibrary(options.library, selection);
  const file = fileLabel(options.episodes);
  let episodes = 0;
  let decisions = 0;
  async function* records(): AsyncGenerator<object> {
    const lines = readRecords(openBytes(options.episodes), { file, kind: "episode" });
    for await (const { record: episode, line } of lines) {
      const task = await library.taskOf(episode, { file, line });
      for (const { record, explanation } of retrieveEpisode(task, episode, selection)) {
        yield options.explain ? { ...record, explanation: explanationRecord(explanation) } : record;
        decisions++;
      }
      episodes++;
    }
    if (episodes === 0) throw new InputError("holds no records", { file });
  }
  try {
    await writeRecordsOut(options.out, records());
  } finally {
    await library.close();
  }
  progress(
    `${countOf(decisions, "decision")} of ${countOf(episodes, "episode")} over ${countOf(library.sources, "source")} of ` +
      countOf(library.tasks, "task"),
  );
}
