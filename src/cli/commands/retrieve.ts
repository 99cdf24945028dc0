import { type Command, Option } from "commander";
import { readRecords } from "../../core/record/read.ts";
import { retrieveEpisode } from "../../core/retrieval/retrieve.ts";
import type { Control } from "../../core/retrieval/types.ts";
import { explanationRecord } from "../explanation-record.ts";
import { fileLabel, openBytes, progress, writeRecordsOut } from "../io.ts";
import { CONTROLS, checkControl, checkStandardInput, readPreparedLibrary } from "../prepared-library.ts";

interface Options {
  library: string;
  episodes: string;
  out?: string;
  control: Control;
  explain?: boolean;
}

export function register(program: Command): void {
  program
    .command("retrieve")
    .description(
      "For every decision of every episode, in order: matched visits, ranked candidates, the winner, and the " +
        "successful and failed records that are retained (one retrieval record a line). A task that the library " +
        "does not have is retrieved over no sources, with a warning.",
    )
    .requiredOption("--library <file>", "source records (.jsonl, .jsonl.gz, or - for standard input)")
    .requiredOption("--episodes <file>", "student episodes (.jsonl, .jsonl.gz, or -)")
    .option("--out <file>", "where to write (.gz is compressed); standard output if absent")
    .addOption(
      new Option("--control <name>", "one of the paper's ablations").choices([...CONTROLS]).default("graph"),
    )
    .option("--explain", "add the explanation of each decision under the key `explanation`")
    .action(run);
}

async function run(options: Options): Promise<void> {
  const control = checkControl(options.control);
  checkStandardInput(options.library, options.episodes);
  const library = await readPreparedLibrary(options.library);
  const file = fileLabel(options.episodes);
  let episodes = 0;
  let decisions = 0;
  async function* records(): AsyncGenerator<object> {
    const lines = readRecords(openBytes(options.episodes), { file, kind: "episode" });
    for await (const { record: episode, line } of lines) {
      const task = library.taskOf(episode, { file, line });
      for (const { record, explanation } of retrieveEpisode(task, episode, { control })) {
        yield options.explain ? { ...record, explanation: explanationRecord(explanation) } : record;
        decisions++;
      }
      episodes++;
    }
  }
  await writeRecordsOut(options.out, records());
  progress(
    `${decisions} decisions of ${episodes} episodes over ${library.sources} sources of ${library.tasks} tasks`,
  );
}
