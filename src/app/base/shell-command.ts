/** Commands as a shell reads them. */

/** A word of a POSIX shell, in quotes where it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** One command line: variables first, then its words. */
export function shellLine(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): string {
  const set = Object.entries(environment).map(([name, value]) => `${name}=${shellWord(value)}`);
  return [...set, ...words.map(shellWord)].join(" ");
}

/**
 * Writes a file and runs a command on it: the text of the file is taken to the letter. `comments`, one per line, stand
 * first.
 */
export function shellScript(
  file: string,
  text: string,
  command: string,
  comments: readonly string[] = [],
): string {
  const said = comments.map((comment) => `# ${comment.replace(/[\r\n]+/g, " ")}\n`).join("");
  // No line of JSON is this word.
  return `${said}cat > ${shellWord(file)} <<'END_OF_CONFIG'\n${text}\nEND_OF_CONFIG\n${command}\n`;
}

/**
 * The command of a run on the worker as it is given in a shell to take the same run again: the program in place of
 * `gcopd`, a folder of its own, progress for people.
 */
export function againCommand(
  command: readonly string[],
  { program, environment }: { program: readonly string[]; environment: Readonly<Record<string, string>> },
  out: string,
): string {
  const words = command.slice(1);
  const kept = words.flatMap((word, n) => {
    if (word === "--progress" || words[n - 1] === "--progress") return [];
    return [words[n - 1] === "--out" ? out : word];
  });
  return shellLine([...program, ...kept], environment);
}
