import type { Command } from "commander";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/plural.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { readWithSchema } from "../../formats/read.ts";
import { openTokenizer, type Tokenizer } from "../../text/index.ts";
import { fileLabel, openBytes, progress, writeRecordsOut } from "../io.ts";

interface Options {
  tokenizer: string;
  in: string;
  out?: string;
  decode?: boolean;
}

const textLine = z.looseObject({ id: z.string(), text: z.string() });
const idsLine = z.looseObject({ id: z.string(), ids: z.array(z.int().nonnegative()) });

export function register(program: Command): void {
  program
    .command("tokenize")
    .description(
      'Turn lines {"id", "text"} into {"id", "ids"}, or with --decode the other way. Nothing is added to a text, and ' +
        "special tokens written out in it become their ids; decoding keeps them.",
    )
    .requiredOption("--tokenizer <folder>", "folder with tokenizer.json")
    .requiredOption("--in <file>", "lines to convert (.jsonl, .jsonl.gz, or - for standard input)")
    .option("--out <file>", "where to write (.gz is compressed); standard output if absent")
    .option("--decode", "from ids to text")
    .action(run);
}

async function run(options: Options): Promise<void> {
  const tokenizer = await openTokenizer(openFolder(options.tokenizer));
  const file = fileLabel(options.in);
  const bytes = openBytes(options.in);
  const counts = { lines: 0, tokens: 0 };
  await writeRecordsOut(
    options.out,
    options.decode ? decoded(bytes, file, tokenizer, counts) : encoded(bytes, file, tokenizer, counts),
  );
  progress(`${countOf(counts.lines, "line")}, ${countOf(counts.tokens, "token")}`);
}

type Counts = { lines: number; tokens: number };

async function* encoded(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  tokenizer: Tokenizer,
  counts: Counts,
): AsyncGenerator<object> {
  for await (const { record } of readWithSchema(bytes, { file, schema: textLine })) {
    const ids = tokenizer.encode(record.text);
    counts.lines++;
    counts.tokens += ids.length;
    yield { id: record.id, ids };
  }
  requireLines(counts, file);
}

async function* decoded(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  tokenizer: Tokenizer,
  counts: Counts,
): AsyncGenerator<object> {
  for await (const { record, line } of readWithSchema(bytes, { file, schema: idsLine })) {
    const unknown = record.ids.findIndex((id) => !tokenizer.hasToken(id));
    if (unknown !== -1) {
      throw new InputError(`id ${record.ids[unknown]} has no token in ${tokenizer.file}`, {
        file,
        line,
        key: `ids[${unknown}]`,
      });
    }
    counts.lines++;
    counts.tokens += record.ids.length;
    yield { id: record.id, text: tokenizer.decode(record.ids) };
  }
  requireLines(counts, file);
}

function requireLines({ lines }: Counts, file: string): void {
  if (lines === 0) throw new InputError("holds no lines", { file });
}
