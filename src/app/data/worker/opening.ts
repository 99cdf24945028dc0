/** The steps of opening a library, and how far they are. */
import type { ImportedRecord } from "../../../formats/import/index.ts";
import { recordLine } from "../../../formats/write.ts";
import { COUNTS, countsRow, countTask, emptyColumns, withBatch } from "../library/task-columns.ts";
import type { OpenProgress, TaskColumns } from "../model.ts";
import type { RecordLibrary } from "./record-library.ts";
import type { RecordedScores } from "./recorded-scores.ts";

export type OnProgress = (progress: OpenProgress) => void;

/** Milliseconds between two lines of progress. */
const TOLD = 80;

/** Passes on what comes first, and after that one word every so often. */
export function throttled(onProgress: OnProgress): OnProgress {
  let told = 0;
  return (progress) => {
    const now = performance.now();
    if (now - told < TOLD) return;
    told = now;
    onProgress(progress);
  };
}

/** The lines of an import's records. Scores go where they are looked up; the import's report counts them. */
export async function* importedLines(
  records: AsyncIterable<ImportedRecord>,
  scores: RecordedScores,
  name: string,
  tell: OnProgress,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let count = 0;
  for await (const imported of records) {
    if (imported.kind === "score") {
      scores.add(imported.record, imported.file);
      continue;
    }
    count++;
    tell({ label: `Importing ${name}`, done: count, total: 0, unit: "records" });
    yield encoder.encode(recordLine(imported.record));
  }
}

/** Reads, and so checks, every record. */
export async function countAll(
  library: RecordLibrary,
  tell: OnProgress,
  signal: AbortSignal,
): Promise<TaskColumns> {
  const total = library.tasks.length;
  const counts = new Int32Array(COUNTS * total);
  for (let place = 0; place < total; place++) {
    signal.throwIfAborted();
    tell({ label: "Checking the records", done: place, total, unit: "tasks" });
    counts.set(countsRow(countTask(await library.read(place))), COUNTS * place);
  }
  return withBatch(emptyColumns(total), {
    places: Uint32Array.from({ length: total }, (_, i) => i),
    counts,
    problem: null,
    brokeOff: null,
  });
}
