/** A line for the user; an error stays until it is dismissed or the next opening succeeds. */
export interface Notice {
  kind: "error" | "info";
  text: string;
  /** The change it reports, which can be undone: see data/undo.ts. */
  undo?: number;
}

/** Something that is under way and how far it is. */
export interface Progress {
  label: string;
  done: number;
  total: number;
  unit: string;
  /** Ends it, where that can be asked for. */
  cancel?: () => void;
}
