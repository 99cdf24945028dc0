/**
 * The one error for bad input. Its message is a single line that names the place (file, line, key) and what was
 * expected; the command line prints it and exits 1, the worker answers 400 with it, the page shows it.
 */
export class InputError extends Error {
  override readonly name = "InputError";
  constructor(
    message: string,
    readonly where: { file?: string; line?: number; key?: string } = {},
  ) {
    const place = [where.file, where.line === undefined ? undefined : `line ${where.line}`, where.key]
      .filter((part) => part !== undefined && part !== "")
      .join(", ");
    super((place === "" ? message : `${place}: ${message}`).replace(/\s*\n\s*/g, " "));
  }
}
