import { type Command, InvalidArgumentError } from "commander";
import { plainLine } from "../../core/plain-text.ts";
import { countOf } from "../../core/plural.ts";
import type { UnreadableRecord } from "../../core/record/unreadable.ts";
import { SOURCE_BUDGETS } from "../../core/retrieval/selection.ts";
import { StatisticsCollector, type TaskRecords } from "../../core/statistics/index.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import type { IndexedLibrary } from "../../formats/indexed/index.ts";
import { evidenceMeter } from "../../text/evidence-meter.ts";
import { openTokenizer } from "../../text/index.ts";
import { UsageError } from "../command.ts";
import { EnvironmentNotes } from "../environment-notes.ts";
import { openIndexedFile } from "../indexed-file.ts";
import { fileLabel, progress, writeOut } from "../io.ts";
import { checkStandardInput } from "../prepared-library.ts";
import {
  addSelectionOptions,
  countFromOne,
  type SelectionOptions,
  selectionOf,
} from "../selection-options.ts";
import { statisticsRecord, statisticsText } from "../statistics-text.ts";

interface Options extends SelectionOptions {
  library: string;
  episodes?: string;
  tokenizer?: string;
  budgets: readonly number[];
  json?: boolean;
}

function budgetList(text: string): number[] {
  const budgets = text.split(",").map((part) => countFromOne(part.trim()));
  if (new Set(budgets).size < budgets.length) throw new InvalidArgumentError("a budget is named twice.");
  return budgets.sort((a, b) => a - b);
}

export function register(program: Command): void {
  const command = program
    .command("stats")
    .description(
      "The figures that the paper prints, for any library: trusted-success coverage by source budget and the size of " +
        "the graphs; with episodes also how many decisions match, which references they get, which outcomes these have, " +
        "and how long the evidence is. Files are read a task at a time.",
    )
    .requiredOption("--library <file>", "source records (.jsonl, .jsonl.gz, or - for standard input)")
    .option("--episodes <file>", "student episodes (.jsonl, .jsonl.gz, or -)")
    .option(
      "--tokenizer <folder>",
      "folder with tokenizer.json and tokenizer_config.json: evidence is measured in tokens, against the " +
        "environment's limit; in characters if absent",
    )
    .option("--budgets <K,K,…>", "source budgets of the coverage", budgetList, [...SOURCE_BUDGETS])
    .option("--json", "print JSON")
    .action(run);
  addSelectionOptions(command);
}

async function run(options: Options): Promise<void> {
  checkStandardInput(options.library, options.episodes ?? "");
  if (options.tokenizer !== undefined && options.episodes === undefined) {
    throw new UsageError("--tokenizer measures the evidence of decisions: it needs --episodes");
  }
  const tokenizer =
    options.tokenizer === undefined ? null : await openTokenizer(openFolder(options.tokenizer));
  const collector = new StatisticsCollector({
    selection: selectionOf(options),
    budgets: options.budgets,
    meter: evidenceMeter(tokenizer, () => fileLabel(options.episodes ?? "")),
  });
  const sources = await openIndexedFile(options.library, { kind: "source", unreadable: "list" });
  try {
    const episodes =
      options.episodes === undefined
        ? null
        : await openIndexedFile(options.episodes, { kind: "episode", unreadable: "list" });
    try {
      collector.addUnreadable(sources.unreadable);
      collector.addUnreadable(episodes?.unreadable ?? []);
      const notes = new EnvironmentNotes();
      notes.library(sources.library.tasks, fileLabel(options.library));
      let told = Date.now();
      let done = 0;
      for await (const task of taskRecords(sources.library, episodes?.library ?? null)) {
        notes.environment(task.environment, fileLabel(options.episodes ?? options.library));
        collector.add(task);
        done++;
        if (Date.now() - told > 2_000) {
          told = Date.now();
          progress(`  ${done} of ${countOf(sources.library.counts.tasks, "task")} in the library`);
        }
      }
    } finally {
      await episodes?.close();
    }
  } finally {
    await sources.close();
  }
  const statistics = collector.result();
  const [first] = statistics.unreadable;
  if (first !== undefined)
    progress(
      `gcopd: warning: ${countOf(statistics.unreadable.length, "record")} left out, not readable ` +
        `(first: ${first.file}, line ${first.line}: ${plainLine(first.reason)})`,
    );
  await writeOut(
    undefined,
    options.json
      ? [`${JSON.stringify(statisticsRecord(statistics), null, 2)}\n`]
      : statisticsText(statistics),
  );
}

/** The tasks of the library with their episodes, in its order, then those that only the episodes name. */
async function* taskRecords(
  sources: IndexedLibrary,
  episodes: IndexedLibrary | null,
): AsyncGenerator<TaskRecords> {
  for (const [place, { environment, task }] of sources.tasks.entries()) {
    const found = episodes?.find(environment, task);
    const unreadable: UnreadableRecord[] = [];
    const onUnreadable = (record: UnreadableRecord) => unreadable.push(record);
    yield {
      environment,
      task,
      sources: await sources.readTask(place, onUnreadable),
      episodes: found === undefined ? [] : await episodes!.readEpisodes(found, onUnreadable),
      unreadable,
    };
  }
  if (episodes === null) return;
  for (const [place, { environment, task }] of episodes.tasks.entries()) {
    if (sources.find(environment, task) !== undefined) continue;
    const unreadable: UnreadableRecord[] = [];
    const onUnreadable = (record: UnreadableRecord) => unreadable.push(record);
    yield {
      environment,
      task,
      sources: [],
      episodes: await episodes.readEpisodes(place, onUnreadable),
      unreadable,
    };
  }
}
