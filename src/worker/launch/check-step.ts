/** `note`: it may be meant so. */
export const VERDICTS = ["ok", "note", "missing"] as const;

export interface CheckStep {
  step: string;
  verdict: (typeof VERDICTS)[number];
  /** What was found, or what to do. */
  text: string;
}
