/** A line that holds no sound record, and why. */
export interface UnreadableRecord {
  /** What the index has at that place; null for a line that is in no index. */
  kind: "source" | "episode" | null;
  file: string;
  /** From 1. */
  line: number;
  /** One line, with the key where the fault lies at one. */
  reason: string;
}

/** Receives what cannot be read, where one unreadable record should not stop the others. */
export type OnUnreadable = (record: UnreadableRecord) => void;
