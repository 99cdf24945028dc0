/** The students that are trained in the evidence test: what is asked for, what was trained so far, and what is behind it. */
import { create } from "zustand";
import type { WeightChoice } from "../../../tensor/index.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { Shipped } from "../../url/library-link.ts";
import type { DeviceState } from "../store.ts";
import type { RecordedBands } from "./recorded-results.ts";
import type { Registered } from "./registered.ts";
import { DEFAULT_CHOICES, type StudentChoices } from "./students-config.ts";
import type { Study } from "./study.ts";

/** What a study was trained from, beside its config: one of others is another study. */
export interface StudyFrom {
  /** `LibrarySummary.id`. */
  library: string;
  teacher: FolderFiles | Shipped;
  student: FolderFiles | Shipped;
  /** How the teacher's matrices are kept. */
  weights: WeightChoice;
  compute: DeviceState["compute"];
}

interface StudentsState {
  choices: StudentChoices;
  study: (Study & { from: StudyFrom }) | null;
  /** Why the last training ended early, in one line. */
  problem: string | null;
  /** Opened by the user. */
  recorded: RecordedBands | null;
  /** Shipped with the miniature; null until it is asked for. */
  registered: Registered | null;
}

export const useStudents = create<StudentsState>(() => ({
  choices: DEFAULT_CHOICES,
  study: null,
  problem: null,
  recorded: null,
  registered: null,
}));
