/** What-ifs as files: the shown one saved as a record, and a record opened as what it asks for. */
import { InputError } from "../../../core/errors.ts";
import type { WhatIf } from "../../../core/evidence/index.ts";
import { SOURCE_BUDGETS } from "../../../core/retrieval/selection.ts";
import {
  readWhatIfRecords,
  type WhatIfRecord,
  type WhatIfScores,
  whatIfOf,
  whatIfRecord,
} from "../../../formats/what-if-record.ts";
import { recordLine } from "../../../formats/write.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import { safeName } from "../../base/export/safe-name.ts";
import { saveFile } from "../../base/save-file.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { DecisionModel } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import { scoreKey } from "../../data/score-key.ts";
import { whatIfOfSelection } from "../../url/what-if.ts";
import { sideOf, teacherOf, withEvidence, withoutEvidence } from "../side.ts";
import { getUi, setUi } from "../store.ts";

/** What was scored of the shown decision under all three contexts; null where that was not done. */
function scoresOf(decision: DecisionModel): WhatIfScores | null {
  const scores = getUi().scores[scoreKey(decision)];
  const full = scores && sideOf(scores, "full");
  if (scores === undefined || full === undefined) return null;
  const { model, dtype, device, adapter } = teacherOf(scores);
  return {
    teacher: model,
    dtype,
    device,
    adapter,
    response_ids: [...scores.ids],
    vanilla: Array.from(withoutEvidence(scores).logprobs),
    full_method: Array.from(full.logprobs),
    what_if: Array.from(withEvidence(scores).logprobs),
  };
}

/** The record of the shown what-if; null where nothing is changed. */
export function shownRecord(decision: DecisionModel): WhatIfRecord | null {
  const { full, retrieval, selection, evidence } = decision;
  if (full === null) return null;
  return whatIfRecord(retrieval.record, selection, {
    evidence: evidence.text,
    fullMethod: { retrieval: full.retrieval.record, evidence: full.evidence.text },
    scores: scoresOf(decision),
  });
}

/** Saves the shown what-if into the user's downloads. */
export function saveWhatIf(): void {
  const { decision } = getUi();
  const record = decision === null ? null : shownRecord(decision);
  if (decision === null || record === null) return;
  const name = `what-if-${safeName(decision.episode)}-${decision.decision}`;
  saveFile(`${name}.jsonl`, new Blob([recordLine(record)], { type: "application/jsonl" }));
}

/** Opens the what-if that a file asks for, in the library that is open. Throws `InputError` for any other file. */
export async function openWhatIf({ path, file: blob }: PathFile): Promise<void> {
  const records: WhatIfRecord[] = [];
  for await (const each of readWhatIfRecords(blob.stream(), { file: path })) records.push(each);
  const [record] = records;
  if (record === undefined || records.length > 1) {
    throw new InputError(`${records.length} records; expected one what-if record`, { file: path });
  }
  if (getUi().library === null) {
    throw new InputError(
      "this is a what-if record: open the library and the episodes that it is of first, or drop all of them together",
      { file: path },
    );
  }
  const { task, environment, episode, decision } = record;
  const asked = whatIfOf(record);
  checkBudget(asked, path);
  navigate(
    {
      view: getUi().place.view === "tokens" ? "tokens" : "task",
      task,
      environment,
      episode,
      decision,
      visit: null,
      part: null,
      token: null,
      ...whatIfOfSelection(asked),
    },
    "push",
  );
  await compareWithRecord(record, asked, path);
}

function checkBudget({ sourcesPerTask }: WhatIf, file: string): void {
  if (sourcesPerTask === undefined || SOURCE_BUDGETS.some((k) => k === sourcesPerTask)) return;
  throw new InputError(`${sourcesPerTask}; the page has ${SOURCE_BUDGETS.join(", ")}`, {
    file,
    key: "what_if.sources_per_task",
  });
}

/** Says so where the open library gives other references than the one that the record was made with. */
async function compareWithRecord(record: WhatIfRecord, asked: WhatIf, path: string): Promise<void> {
  const { task, environment, episode, decision } = record;
  const library = getUi().library?.id ?? "";
  const found = await libraryWorker()
    .tasks.decision({ library, environment, task }, episode, decision, asked)
    .catch(() => null);
  // What is missing is said in the place of the decision.
  if (found === null) return;
  const same = (["candidates", "success", "failure"] as const).every(
    (key) => JSON.stringify(record[key]) === JSON.stringify(found.retrieval.record[key]),
  );
  if (same) return;
  const name = ({ success, failure }: Pick<WhatIfRecord, "success" | "failure">): string =>
    [success, failure].map((each) => (each === null ? "none" : shownName(each.source, 80))).join(" and ");
  setUi({
    notice: {
      kind: "info",
      text:
        `${shownName(path)} was made with another library: it retained ${name(record)} of ` +
        `${record.candidates.length} candidates, this one ${name(found.retrieval.record)} of ` +
        `${found.retrieval.record.candidates.length}.`,
    },
  });
}
