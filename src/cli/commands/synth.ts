import { type Command, InvalidArgumentError } from "commander";
import { countOf } from "../../core/plural.ts";
import { type SynthOptions, synthEpisodes, synthSources } from "../../formats/synth/index.ts";
import { UsageError } from "../command.ts";
import { fileLabel, progress, writeRecordsOut } from "../io.ts";
import { countFromOne } from "../selection-options.ts";

interface Options extends SynthOptions {
  out: string;
  episodesOut?: string;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError("expected a whole number from 0.");
  return Number(text);
}

export function register(program: Command): void {
  program
    .command("synth")
    .description(
      "Make a library, and episodes if asked, with the statistics of recorded ScienceWorld executions: lengths of " +
        "texts, shared states, statuses, menus, missing states, gaps, successes. The same numbers give the same files. " +
        "For measuring and trying things out; nothing was played and the texts mean nothing.",
    )
    .requiredOption("--tasks <N>", "tasks of the library", countFromOne)
    .requiredOption("--sources <K>", "executions of each task", countFromOne)
    .option("--episodes <M>", "student episodes in all, the tasks taking turns", wholeNumber, 0)
    .option("--seed <S>", "a whole number below 2^31", wholeNumber, 0)
    .option("--horizon <T>", "most decisions of one execution", wholeNumber, 30)
    .requiredOption("--out <file>", "the library (.gz is compressed; - for standard output)")
    .option("--episodes-out <file>", "the episodes")
    .action(run);
}

async function run(options: Options): Promise<void> {
  if (options.episodes > 0 && options.episodesOut === undefined) {
    throw new UsageError("--episodes makes a file of its own: it needs --episodes-out");
  }
  if (options.episodesOut === options.out) throw new UsageError("--out and --episodes-out name one file");
  await write(options.out, "source", synthSources(options));
  if (options.episodesOut !== undefined) await write(options.episodesOut, "episode", synthEpisodes(options));
}

async function write(path: string, noun: string, records: Iterable<{ decisions: unknown[] }>): Promise<void> {
  let count = 0;
  let decisions = 0;
  let told = Date.now();
  function* counted(): Generator<object> {
    for (const record of records) {
      yield record;
      count++;
      decisions += record.decisions.length;
      if (Date.now() - told > 2_000) {
        told = Date.now();
        progress(`  ${countOf(count, noun)}`);
      }
    }
  }
  await writeRecordsOut(path, counted());
  progress(
    `${path === "-" ? "standard output" : fileLabel(path)}: ${countOf(count, noun)}, ${countOf(decisions, "decision")}`,
  );
}
