import { type Command, InvalidArgumentError } from "commander";
import { environmentRules } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import { evidenceInput, evidenceInsert, fitEvidence, renderEvidence } from "../../core/evidence/index.ts";
import { retrieve } from "../../core/retrieval/retrieve.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { decisionPromptIds, openTokenizer } from "../../text/index.ts";
import { UsageError } from "../command.ts";
import { fileLabel, progress, writeOut } from "../io.ts";
import { checkStandardInput, openPreparedLibrary, readEpisodeOf } from "../prepared-library.ts";
import { addSelectionOptions, type SelectionOptions, selectionOf } from "../selection-options.ts";

interface Options extends SelectionOptions {
  library: string;
  episodes: string;
  episode: string;
  decision: number;
  tokenizer?: string;
  limit?: number;
  json?: boolean;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number from 0.");
  return Number(text);
}

export function register(program: Command): void {
  const command = program
    .command("evidence")
    .description(
      "Prints the evidence R_t of one decision exactly as the teacher reads it (standard output) and, with a " +
        "tokenizer, how many tokens it takes (standard error). Over the limit, exactly repeated observations become " +
        "back-references; evidence that still does not fit is an error, never cut.",
    )
    .requiredOption("--library <file>", "source records (.jsonl, .jsonl.gz, or - for standard input)")
    .requiredOption("--episodes <file>", "student episodes (.jsonl, .jsonl.gz, or -)")
    .requiredOption("--episode <id>", "id of the episode")
    .requiredOption("--decision <t>", "the scored decision, from 0", wholeNumber)
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
    .action(run);
  addSelectionOptions(command);
}

async function run(options: Options): Promise<void> {
  const selection = selectionOf(options);
  checkStandardInput(options.library, options.episodes);
  if (options.limit !== undefined && options.tokenizer === undefined) {
    throw new UsageError("--limit counts tokens: it needs --tokenizer");
  }
  const tokenizer =
    options.tokenizer === undefined ? null : await openTokenizer(openFolder(options.tokenizer));
  const file = fileLabel(options.episodes);
  const episode = await readEpisodeOf(options.episodes, options.episode);
  const t = options.decision;
  const decision = episode.decisions[t];
  if (decision === undefined) {
    throw new InputError(
      `episode ${JSON.stringify(episode.episode)} has ${episode.decisions.length} decisions, counted from 0: there is no ${t}`,
      { file },
    );
  }
  const library = await openPreparedLibrary(options.library, selection);
  const task = await library.taskOf(episode, { file }).finally(() => library.close());
  const { record, explanation } = retrieve(task, episode, t, selection);
  const input = evidenceInput(task, episode, record, selection.control);

  let tokens: { evidence: number; prompt: number | null; limit: number } | null = null;
  let evidence = renderEvidence(input);
  if (tokenizer !== null) {
    const hasPrompt = decision.prompt !== undefined || decision.prompt_ids !== undefined;
    const place = { file, episode: episode.episode, decision: t };
    const prompt = hasPrompt ? decisionPromptIds(decision, tokenizer, place).length : null;
    const limit = options.limit ?? environmentRules(episode.environment).limits.evidenceTokens;
    const fitted = fitEvidence({
      ...input,
      limit,
      countTokens: (text) =>
        (prompt ?? 0) + tokenizer.encode(evidenceInsert(text), { special: false }).length,
    });
    evidence = fitted;
    tokens = { evidence: fitted.tokens - (prompt ?? 0), prompt, limit };
  }

  if (options.json) {
    const { text, spans, backReferences } = evidence;
    const result = {
      text,
      tokens: tokens?.evidence ?? null,
      prompt_tokens: tokens?.prompt ?? null,
      back_references: backReferences,
      spans,
      retrieval: record,
      sentence: explanation.sentence,
    };
    await writeOut(undefined, [`${JSON.stringify(result, null, 2)}\n`]);
  } else await writeOut(undefined, [`${evidence.text}\n`]);
  progress(explanation.sentence);
  progress(
    tokens === null
      ? `${evidence.text.length} characters; the token count needs --tokenizer`
      : `${tokens.evidence} tokens of evidence` +
          (tokens.prompt === null
            ? ", prompt not recorded"
            : `, ${tokens.prompt + tokens.evidence} with the prompt`) +
          ` (limit ${tokens.limit})${evidence.backReferences ? ", with back-references" : ""}`,
  );
}
