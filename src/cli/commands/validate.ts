import type { Command } from "commander";
import { customEnvironmentNote, isCustomEnvironment } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import { plainLine } from "../../core/plain-text.ts";
import type { Source } from "../../core/record/schema.ts";
import type { RecordKind, RecordKinds } from "../../formats/kinds.ts";
import { readAnyRecords } from "../../formats/read.ts";
import { FeedbackMismatches, LeftOut } from "../environment-notes.ts";
import { fileLabel, openBytes, printLine, progress } from "../io.ts";

export function register(program: Command): void {
  program
    .command("validate")
    .description(
      "Check records of library format 1: sources, episodes, retrieval, scoring and step records. Prints what each " +
        "file holds, and for each bad file one line with its first fault.",
    )
    .argument("<file...>", "files to check (.jsonl, .jsonl.gz, or - for standard input)")
    .action(run);
}

async function run(files: string[]): Promise<void> {
  // One line for each bad file: the last fault ends the command with exit code 1, those before it are printed here.
  let fault: InputError | undefined;
  for (const path of files) {
    try {
      printLine(`${fileLabel(path)}: ${await summarize(path)}`);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      if (fault !== undefined) progress(`gcopd: ${fault.message}`);
      fault = error;
    }
  }
  if (fault !== undefined) throw fault;
}

const PLURALS: Record<RecordKind, [string, string]> = {
  source: ["source", "sources"],
  episode: ["episode", "episodes"],
  retrieval: ["retrieval record", "retrieval records"],
  "score-input": ["scoring request", "scoring requests"],
  "score-output": ["scoring result", "scoring results"],
  "step-input": ["step decision", "step decisions"],
  optimal: ["decision with optimal actions", "decisions with optimal actions"],
};

function count(number: number, [one, many]: [string, string]): string {
  return `${number} ${number === 1 ? one : many}`;
}

function isSource(record: RecordKinds[RecordKind]): record is Source {
  return "format" in record && record.format === "gcopd.source.v1";
}

/** One file's content in words; `InputError` at its first fault, or when it holds nothing. */
async function summarize(path: string): Promise<string> {
  const file = fileLabel(path);
  const kinds = new Map<RecordKind, number>();
  const tasks = new Set<string>();
  const custom = new Set<string>();
  const leftOut = new LeftOut();
  const mismatches = new FeedbackMismatches();
  let decisions = 0;
  for await (const { kind, record } of readAnyRecords(openBytes(path), { file })) {
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if ("environment" in record) {
      tasks.add(JSON.stringify([record.environment, record.task]));
      if (isCustomEnvironment(String(record.environment))) custom.add(String(record.environment));
    }
    if (isSource(record)) {
      mismatches.add(record);
      const { environment, origin, decisions: made, outcome } = record;
      leftOut.add(environment, { ...outcome, origin: origin.kind, decisions: made.length });
    }
    if ("decisions" in record && Array.isArray(record.decisions)) decisions += record.decisions.length;
  }
  if (kinds.size === 0) throw new InputError("holds no records", { file });
  for (const name of custom) progress(`${file}: note: ${plainLine(customEnvironmentNote(name))}`);
  for (const line of [...leftOut.lines(), ...mismatches.lines()]) progress(`${file}: note: ${line}`);
  const parts = [...kinds].map(([kind, number]) => count(number, PLURALS[kind]));
  if (tasks.size > 0) parts.push(count(tasks.size, ["task", "tasks"]));
  if (decisions > 0) parts.push(count(decisions, ["decision", "decisions"]));
  return `valid: ${parts.join(", ")}`;
}
