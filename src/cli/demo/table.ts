/** A table in Markdown that also reads well in a terminal: columns padded, numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = rows.map((row) => row.map((cell) => String(cell).replaceAll("|", "\\|")));
  const widths = head.map((name, c) => Math.max(3, name.length, ...cells.map((row) => row[c]!.length)));
  const right = head.map(
    (_, c) => rows.length > 0 && rows.every((row) => /^[−+\d.,%\s–-]+$/.test(String(row[c]))),
  );
  const pad = (text: string, c: number) => (right[c] ? text.padStart(widths[c]!) : text.padEnd(widths[c]!));
  const line = (row: readonly string[]) => `| ${row.map(pad).join(" | ")} |`;
  const rule = `| ${widths.map((width, c) => (right[c] ? `${"-".repeat(width - 1)}:` : "-".repeat(width))).join(" | ")} |`;
  return [line(head), rule, ...cells.map(line)].join("\n");
}

/** A probability as a percentage with two digits. */
export function percent(logprob: number): string {
  return `${(100 * Math.exp(logprob)).toFixed(2)}%`;
}

/** A signed number with a true minus sign. */
export function signed(value: number, digits = 2): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

/** A number with a true minus sign. */
export function plain(value: number, digits = 2): string {
  return `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(digits)}`;
}
