import { type Command, InvalidArgumentError } from "commander";
import { environmentRules } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import {
  type FittedEvidence,
  fitEvidence,
  NO_EVIDENCE,
  renderEvidence,
  type WhatIf,
  whatIfInput,
} from "../../core/evidence/index.ts";
import { recordedIds, teacherPrompt } from "../../core/loop/teacher-prompt.ts";
import { plainLine } from "../../core/plain-text.ts";
import { hasPrompt, type RetrievalRecord, type ScoreInput } from "../../core/record/schema.ts";
import { formatPin, type Pin, parsePin } from "../../core/retrieval/index.ts";
import { retrieve } from "../../core/retrieval/retrieve.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { readWhatIfRecords, type WhatIfRecord, whatIfOf } from "../../formats/what-if-record.ts";
import { openTokenizer, textCodec } from "../../text/index.ts";
import { UsageError } from "../command.ts";
import { fileLabel, openBytes, progress, writeOut, writeRecordsOut } from "../io.ts";
import { checkStandardInput, openPreparedLibrary, readEpisodeOf } from "../prepared-library.ts";
import { addSelectionOptions, type SelectionOptions, selectionOf } from "../selection-options.ts";

interface Options extends SelectionOptions {
  library: string;
  episodes: string;
  episode?: string;
  decision?: number;
  pin?: Pin;
  pinFailure?: Pin;
  whatIf?: string;
  tokenizer?: string;
  limit?: number;
  json?: boolean;
  requests?: string;
  endOfTurn: boolean;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number from 0.");
  return Number(text);
}

function pinOption(text: string): Pin {
  const pin = parsePin(text);
  if (pin === null)
    throw new InvalidArgumentError("expected SOURCE@POSITION, or SOURCE for the whole record.");
  return pin;
}

export function register(program: Command): void {
  const command = program
    .command("evidence")
    .description(
      "Print the evidence R_t of one decision exactly as the teacher reads it (standard output) and, with a " +
        "tokenizer, how many tokens it takes (standard error). Over the limit, exactly repeated observations become " +
        "back-references; evidence that still does not fit is an error, never cut.",
    )
    .requiredOption("--library <file>", "source records (.jsonl, .jsonl.gz, or - for standard input)")
    .requiredOption("--episodes <file>", "student episodes (.jsonl, .jsonl.gz, or -)")
    .option("--episode <id>", "id of the episode")
    .option("--decision <t>", "the scored decision, from 0", wholeNumber)
    .option(
      "--pin <source@position>",
      "takes this visit as the successful reference, if it is eligible there; SOURCE alone is the whole record",
      pinOption,
    )
    .option("--pin-failure <source@position>", "takes this visit as the failed reference", pinOption)
    .option(
      "--what-if <file>",
      "a what-if record as the page saves it: names the decision and what to change, in place of the options",
    )
    .option(
      "--tokenizer <folder>",
      "folder with tokenizer.json and tokenizer_config.json, to count tokens with",
    )
    .option(
      "--limit <tokens>",
      "most tokens of prompt and evidence together (the environment's limit if absent; needs --tokenizer)",
      wholeNumber,
    )
    .option("--json", "print JSON: text, tokens, spans, retrieval record and sentence")
    .option(
      "--requests <file>",
      "also write the response after the prompt without and with the evidence, for `gcopd score` (needs --tokenizer)",
    )
    .option(
      "--no-end-of-turn",
      "no end-of-turn token after a response that was recorded as text: the requests of earlier versions",
    )
    .action(run);
  addSelectionOptions(command);
}

/** Options that a what-if record has in it. */
const IN_RECORD = [
  "episode",
  "decision",
  "pin",
  "pinFailure",
  "method",
  "control",
  "sourcesPerTask",
  "augmentation",
  "terminalFailureNote",
  "without",
];

/** Which decision, and what is changed: from the options, or from a what-if record. */
async function asked(
  options: Options,
  command: Command,
): Promise<{ episode: string; decision: number; whatIf: WhatIf; record: WhatIfRecord | null }> {
  if (options.whatIf === undefined) {
    const { episode, decision, pin, pinFailure } = options;
    if (episode === undefined || decision === undefined) {
      throw new UsageError("expected --episode and --decision, or --what-if");
    }
    const pins = { ...(pin && { pin }), ...(pinFailure && { pinFailure }) };
    return { episode, decision, whatIf: { ...selectionOf(options), ...pins }, record: null };
  }
  const given = IN_RECORD.filter((name) => command.getOptionValueSource(name) === "cli");
  if (given.length > 0) {
    const names = given.map((name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    throw new UsageError(`--what-if says it itself: leave out ${names.join(", ")}`);
  }
  const file = fileLabel(options.whatIf);
  const records: WhatIfRecord[] = [];
  for await (const each of readWhatIfRecords(openBytes(options.whatIf), { file })) records.push(each);
  const [record] = records;
  if (record === undefined || records.length > 1) {
    throw new InputError(`${records.length} records; expected one what-if record`, { file });
  }
  const { episode, decision } = record;
  return { episode, decision, whatIf: whatIfOf(record), record };
}

type Retained = Pick<RetrievalRecord, "success" | "failure">;

function referencesOf({ success, failure }: Retained): string {
  const name = (reference: Retained["success"]): string =>
    reference === null ? "none" : formatPin(reference);
  return `${name(success)} and ${name(failure)}`;
}

async function run(options: Options, command: Command): Promise<void> {
  checkStandardInput(options.library, options.episodes, options.whatIf ?? "");
  const { episode: id, decision: t, whatIf, record: saved } = await asked(options, command);
  if (options.limit !== undefined && options.tokenizer === undefined) {
    throw new UsageError("--limit counts tokens: it needs --tokenizer");
  }
  if (options.requests !== undefined && options.tokenizer === undefined) {
    throw new UsageError("--requests are token ids: they need --tokenizer");
  }
  if (!options.endOfTurn && options.requests === undefined) {
    throw new UsageError("--no-end-of-turn is about the responses of --requests");
  }
  if (options.requests === "-")
    throw new UsageError("the evidence takes standard output: name a file with --requests");
  const codec =
    options.tokenizer === undefined
      ? null
      : textCodec(await openTokenizer(openFolder(options.tokenizer)), { endOfTurn: options.endOfTurn });
  const file = fileLabel(options.episodes);
  const episode = await readEpisodeOf(options.episodes, id);
  const decision = episode.decisions[t];
  if (decision === undefined) {
    throw new InputError(
      `episode ${JSON.stringify(episode.episode)} has ${episode.decisions.length} decisions, counted from 0: there is no ${t}`,
      { file },
    );
  }
  const library = await openPreparedLibrary(options.library, whatIf);
  const task = await library.taskOf(episode, { file }).finally(() => library.close());
  const { record, explanation } = retrieve(task, episode, t, whatIf);
  const input = whatIfInput(task, episode, record, whatIf);

  let read: FittedEvidence | null = null;
  if (options.requests !== undefined && codec !== null) {
    const { prompt, responseIds } = recordedIds(episode, t, codec, file);
    const context = teacherPrompt(input, prompt.ids, responseIds.length, codec, options.limit);
    read = context;
    // What the page scores, for a teacher in a terminal: without evidence and with it.
    const requests: ScoreInput[] = [
      { id: `${id}/${t}/vanilla`, prompt_ids: prompt.ids, response_ids: responseIds },
      { id: `${id}/${t}/evidence`, prompt_ids: context.promptIds, response_ids: responseIds },
    ];
    await writeRecordsOut(options.requests, requests);
  }

  let tokens: { evidence: number; prompt: number | null; cut: number; limit: number } | null = null;
  let evidence = NO_EVIDENCE;
  if (input !== null && codec === null) evidence = renderEvidence(input);
  else if (input !== null && codec !== null) {
    const place = { file, episode: episode.episode, decision: t };
    const limited = hasPrompt(decision) ? codec.prompt(decision, episode.environment, place) : null;
    const limit = options.limit ?? environmentRules(episode.environment).limits.evidenceTokens;
    // Without requests no response has to fit after it; without a prompt the evidence is all there is.
    read ??=
      limited === null
        ? fitEvidence(input, { promptTokens: 0, encode: codec.encode, limit })
        : teacherPrompt(input, limited.ids, 0, codec, limit);
    evidence = read.evidence;
    tokens = {
      ...{ evidence: read.insertIds.length, limit },
      ...{ prompt: limited?.ids.length ?? null, cut: limited?.cut ?? 0 },
    };
  }

  if (options.json) {
    const { text, spans, backReferences } = evidence;
    const result = {
      text,
      tokens: tokens?.evidence ?? null,
      prompt_tokens: tokens?.prompt ?? null,
      prompt_cut: tokens?.cut ?? 0,
      back_references: backReferences,
      spans,
      retrieval: record,
      sentence: explanation.sentence,
    };
    await writeOut(undefined, [`${JSON.stringify(result, null, 2)}\n`]);
  } else await writeOut(undefined, [`${evidence.text}\n`]);
  progress(plainLine(explanation.sentence));
  if (saved !== null && referencesOf(saved) !== referencesOf(record)) {
    progress(
      "gcopd: warning: the what-if record was made with another library: " +
        `it retained ${referencesOf(saved)}, this one ${referencesOf(record)}`,
    );
  }
  progress(
    input === null
      ? "nothing is left of the evidence: the teacher reads the vanilla context"
      : tokens === null
        ? `${evidence.text.length} characters; the token count needs --tokenizer`
        : `${tokens.evidence} tokens of evidence` +
          (tokens.prompt === null
            ? ", prompt not recorded"
            : `, ${tokens.prompt + tokens.evidence} with the prompt`) +
          (tokens.cut === 0 ? "" : `, minus the first ${tokens.cut} tokens, which are cut`) +
          ` (limit ${tokens.limit})${evidence.backReferences ? ", with back-references" : ""}`,
  );
}
