/** What an import did, in full: nothing is left out, changed or unused without a line here. */

/** A file, or a source named by a file, that gave no record, and why. */
export interface Skipped {
  /** As it is called in messages; for something named but absent, the path as written. */
  file: string;
  /** One line. */
  reason: string;
}

/** Something a reader should know about what was imported. */
export interface ImportWarning {
  file: string;
  key?: string;
  /** One line. */
  message: string;
}

/** Records whose format carries no state keys: they can only be references without alignment. */
export interface Unaligned {
  sources: number;
  episodes: number;
  decisions: number;
  /** Why, one line for each format; empty when nothing is unaligned. */
  reasons: string[];
}

export interface ImportReport {
  /** Name of the importer. */
  format: string;
  environments: string[];
  tasks: number;
  sources: number;
  episodes: number;
  decisions: number;
  /** Scored decisions: lists of log-probabilities. */
  scores: number;
  /** Files found, and those of them whose content went into records or decided about them. */
  files: { found: number; used: number };
  /** Visits (T+1 a record) without a usable state, over records that have at least one state. */
  states: { visits: number; absent: number };
  /** Sources by standing: trusted successes, trusted failures, complete claims that replay did not confirm, others. */
  standing: { trusted_success: number; trusted_failure: number; unconfirmed: number; unverified: number };
  /** Decisions whose reply held no action that can be read, and the first of them. */
  malformed: { decisions: number; first: ImportWarning | null };
  /** Records whose format does not say how the run ended (`outcome_unknown`). */
  outcome_unknown: number;
  unaligned: Unaligned;
  skipped: Skipped[];
  warnings: ImportWarning[];
}

/** The report of an import that has not read anything yet. */
export function emptyReport(format: string): ImportReport {
  return {
    format,
    environments: [],
    tasks: 0,
    sources: 0,
    episodes: 0,
    decisions: 0,
    scores: 0,
    files: { found: 0, used: 0 },
    states: { visits: 0, absent: 0 },
    standing: { trusted_success: 0, trusted_failure: 0, unconfirmed: 0, unverified: 0 },
    malformed: { decisions: 0, first: null },
    outcome_unknown: 0,
    unaligned: { sources: 0, episodes: 0, decisions: 0, reasons: [] },
    skipped: [],
    warnings: [],
  };
}
