/** The keyboard: one table that the handler and the help sheet both read. */
export const KEYS = [
  { keys: ["1", "2", "3", "4", "5"], does: "library, task, tokens, training, statistics" },
  { keys: ["j", "k"], does: "next, previous decision" },
  { keys: ["]", "["], does: "next, previous task" },
  { keys: ["t"], does: "tokens of this decision" },
  { keys: ["s"], does: "score this decision" },
  { keys: ["u"], does: "update the student" },
  { keys: ["/"], does: "filter the tasks" },
  { keys: ["←", "→"], does: "token by token, or cell by cell" },
  { keys: ["?"], does: "this sheet" },
  { keys: ["Esc"], does: "close, clear, cancel" },
] as const;

export type Command =
  | "library"
  | "task"
  | "tokens"
  | "training"
  | "statistics"
  | "next-decision"
  | "previous-decision"
  | "next-task"
  | "previous-task"
  | "score"
  | "update"
  | "filter"
  | "help"
  | "escape";

const COMMANDS: Record<string, Command> = {
  "1": "library",
  "2": "task",
  "3": "tokens",
  "4": "training",
  "5": "statistics",
  j: "next-decision",
  k: "previous-decision",
  "]": "next-task",
  "[": "previous-task",
  t: "tokens",
  s: "score",
  u: "update",
  "/": "filter",
  "?": "help",
  Escape: "escape",
};

interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  /** The user is typing text: only Escape is a command then. */
  typing: boolean;
}

/** What a key press asks for, or null. */
export function commandFor(press: KeyPress): Command | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  if (press.typing && press.key !== "Escape") return null;
  return Object.hasOwn(COMMANDS, press.key) ? (COMMANDS[press.key] ?? null) : null;
}
