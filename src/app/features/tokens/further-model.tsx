/** A model beside teacher and student: own files or a folder of the worker's disk, and what it will need. */
import { useRef } from "react";
import { InputError } from "../../../core/errors.ts";
import { countOf } from "../../../core/plural.ts";
import { gibibytes } from "../../../tensor/memory-plan.ts";
import { pickedFiles } from "../../base/dropped-files.ts";
import { faultNotice } from "../../base/faults.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { unpackArchive } from "../../compute/clients.ts";
import { partsText } from "../../compute/models/memory-note.tsx";
import { MODEL_FOLDER, sharedModelByPath } from "../../compute/models/shared-model.ts";
import { SharedPathDialog } from "../../compute/open/shared-path-dialog.tsx";
import { useRuns } from "../../compute/runs/runs-store.ts";
import { scoreKey } from "../../compute/scoring/score.ts";
import { setUi, useUi } from "../../compute/store.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { modelFolders } from "../../data/files/model-folder.ts";
import { otherModel, usePickedModel } from "./other-model.ts";

/** Says what a model will need. */
async function pick(files: () => Promise<FolderFiles>): Promise<void> {
  try {
    await otherModel.pick(files);
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

async function ownFolder(input: HTMLInputElement): Promise<FolderFiles> {
  const [folder] = await modelFolders(pickedFiles(input.files ?? []), unpackArchive);
  if (folder === undefined)
    throw new InputError(
      "What you picked has no config.json: expected a Hugging Face model folder, or an export to ONNX with its genai_config.json",
    );
  return folder;
}

async function pickOwn(input: HTMLInputElement): Promise<void> {
  await pick(() => ownFolder(input));
  input.value = "";
}

export function FurtherModel({ busy }: { busy: boolean }) {
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  const shares = useRuns(({ worker }) => worker.files?.shared != null);
  const reading = usePickedModel((state) => state.reading);
  return (
    <div className="add-side-form">
      another model, without and with the evidence
      <button type="button" disabled={busy} onClick={() => folder.current?.click()}>
        Folder…
      </button>
      <button type="button" disabled={busy} onClick={() => archive.current?.click()}>
        .zip…
      </button>
      {shares && (
        <button
          type="button"
          disabled={busy}
          title="A model folder on the worker’s disk"
          onClick={() => usePickedModel.setState({ choosing: true })}
        >
          Worker…
        </button>
      )}
      <span className="note">
        Opened for its two passes and closed again. Δ with it only where its tokenizer gives the same ids.
      </span>
      {reading && <span role="status">Reading its tokenizer and headers…</span>}
      <Picked busy={busy} />
      <input
        ref={(input) => {
          folder.current = input;
          // React has no property for it, and without it the picker takes single files only.
          input?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        hidden
        aria-label="Folder of a further model"
        data-testid="pick-other-folder"
        onChange={(event) => void pickOwn(event.target)}
      />
      <input
        ref={archive}
        type="file"
        accept=".zip"
        hidden
        aria-label="Archive of a further model"
        data-testid="pick-other-zip"
        onChange={(event) => void pickOwn(event.target)}
      />
    </div>
  );
}

/** Its folder, chosen from the one that the worker shares: its weights stay there and are read in parts. */
export function SharedModelDialog() {
  const open = usePickedModel(({ choosing }) => choosing);
  return (
    <SharedPathDialog
      what="further model"
      folder={MODEL_FOLDER}
      open={open}
      onClose={() => usePickedModel.setState({ choosing: false })}
      onChoose={(path) => void pick(() => sharedModelByPath(path))}
    />
  );
}

/** A further model before it is opened: what it will need, and the word to go on. */
function Picked({ busy }: { busy: boolean }) {
  const picked = usePickedModel((state) => state.picked);
  const key = useUi((ui) => (ui.decision === null ? "" : scoreKey(ui.decision)));
  if (picked === null || picked.key !== key) return null;
  const { folder, tokens, plan } = picked;
  return (
    <div className="picked-model" data-testid="picked-model">
      <p>
        <strong>{shownName(folder.name)}</strong>: two passes over at most {countOf(tokens, "token")}. With
        teacher and student it will need about <strong>{gibibytes(plan.plan.total)}</strong> (
        {partsText(plan.plan, "score")}).
      </p>
      {plan.uncounted.map((sentence) => (
        <p key={sentence} className="note">
          {sentence}
        </p>
      ))}
      {plan.problem !== null && (
        <p className="fault" role="alert">
          {plan.problem}
        </p>
      )}
      <button
        type="button"
        disabled={busy || plan.problem !== null}
        onClick={() => void otherModel.addSides(folder)}
      >
        Score with it
      </button>
      <button type="button" onClick={() => otherModel.forget()}>
        Not this one
      </button>
    </div>
  );
}
