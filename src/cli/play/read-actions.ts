import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { jsonType } from "../../core/record/describe-issue.ts";
import { readLines } from "../../formats/lines.ts";
import { fileLabel, openBytes } from "../io.ts";

/**
 * Actions of a file (`-`: standard input), one JSON string per line.
 *
 * @param signal ends the reading
 * @throws InputError that names the line
 */
export async function* readActions(path: string, signal?: AbortSignal): AsyncGenerator<string> {
  const file = fileLabel(path);
  for await (const { text, line } of readLines(openBytes(path, signal), file)) {
    const value = parseJsonText(text, { file, line });
    if (typeof value !== "string")
      throw new InputError(`expected an action as a JSON string, received ${jsonType(value)}`, {
        file,
        line,
      });
    yield value;
  }
}
