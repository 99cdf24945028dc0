/** JSON of files: text that may have been written to take more memory than it has bytes. */
import { InputError } from "./errors.ts";

/**
 * Values of one JSON text, at every depth. Empty objects take up to 100 bytes each, from three bytes of text; a record
 * of tens of megabytes has under a million values, and a tokenizer of 250,000 tokens about one million.
 */
export const MOST_VALUES = 4 * 2 ** 20;

interface Where {
  file: string;
  line?: number;
  key?: string;
}

/**
 * How deep values of a model's files lie inside each other; published ones reach ten. Such values are shown in messages
 * and gone through recursively. Records keep what they hold without looking at it, at any depth.
 */
export const DEEPEST_OF_MODELS = 200;

/**
 * The value of a JSON text. An `InputError` that names the place where it is none, has more than `MOST_VALUES`, or nests
 * deeper than `deepest`.
 */
export function parseJsonText(text: string, where: Where, deepest = Number.POSITIVE_INFINITY): unknown {
  if (text.length > MOST_VALUES || deepest < text.length) checkExtent(text, where, deepest);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InputError(`not JSON: ${error instanceof Error ? error.message : String(error)}`, where);
  }
}

/** Counts what begins a value: brackets, and commas between values. Strings are passed over. */
function checkExtent(text: string, where: Where, deepest: number): void {
  let [values, depth] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++)
        if (text.charCodeAt(at) === 0x5c) at++;
    } else if (code === 0x2c) values++;
    else if (code === 0x5b || code === 0x7b) {
      values++;
      if (++depth > deepest)
        throw new InputError(`nests deeper than ${deepest}, the most that it may`, where);
    } else if (code === 0x5d || code === 0x7d) depth--;
    if (values > MOST_VALUES)
      throw new InputError(
        `holds more than ${MOST_VALUES} values, the most that one JSON text may have`,
        where,
      );
  }
}
