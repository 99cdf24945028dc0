/** Which model has a role, and another one from a folder, a .zip or the hub. */
import { useId, useRef } from "react";
import { countOf } from "../../../core/plural.ts";
import type { WeightChoice } from "../../../tensor/index.ts";
import { gibibytes } from "../../../tensor/memory-plan.ts";
import { pickedFiles } from "../../base/dropped-files.ts";
import { faultNotice } from "../../base/faults.ts";
import { Menu } from "../../base/menu.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { modelFolders } from "../../data/files/model-folder.ts";
import { unpackArchive } from "../clients.ts";
import { isModelAtWork } from "../computing.ts";
import { openHub, useHub } from "../hub/hub.ts";
import { useRuns } from "../runs/runs-store.ts";
import { type ModelState, type Role, setUi, useUi } from "../store.ts";
import { dismissGone, useGoneFolders } from "./gone-folders.ts";
import { keptModels, useKeptModels } from "./kept-models.ts";
import { useMemory } from "./memory.ts";
import { models, type Opened, useOwnModels, useStudentRun } from "./models.ts";
import { openSharedModel } from "./shared-model.ts";

const ORIGINS = { sample: "the sample’s", own: "your own", updated: "updated here" } as const;

async function open(role: Role, files: FileList | null): Promise<void> {
  try {
    const [folder] = await modelFolders(pickedFiles(files ?? []), unpackArchive);
    if (folder !== undefined) await models.open(role, folder);
    else if (files !== null && files.length > 0) {
      setUi({
        notice: {
          kind: "error",
          text: "What you picked has no config.json: expected a Hugging Face model folder, or an export to ONNX with its genai_config.json",
        },
      });
    }
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** What a role's model is called. `own`: the user's, which may wait to be opened on the device. */
export function modelTitle(model: ModelState | null, own: Opened | null, trained: boolean): string {
  if (model !== null) return `${shownName(model.info.model)}, ${ORIGINS[model.origin]}`;
  const waiting = own === null ? ORIGINS.sample : shownName(own.folder.name);
  return `${trained ? "trained in this browser" : waiting}, opened when needed`;
}

export function ModelPicker({ of: role }: { of: Role }) {
  const model = useUi((ui) => ui.models[role]);
  const shares = useRuns(({ worker }) => worker.files?.shared != null);
  const own = useOwnModels((opened) => opened[role]);
  const trained = useStudentRun((run) => role === "student" && run.id !== null);
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot stand in a line of text
    <span className="model-picker" role="group" aria-labelledby={id} data-testid={`model-${role}`}>
      <span id={id}>
        {role}: <strong>{modelTitle(model, own, trained)}</strong>
        {model !== null && model.steps > 0 && ` (${countOf(model.steps, "step")})`}
      </span>
      <button type="button" onClick={() => folder.current?.click()}>
        Folder…
      </button>
      <button type="button" onClick={() => archive.current?.click()}>
        .zip…
      </button>
      <button type="button" onClick={() => openHub(role)}>
        <HubState />
      </button>
      {shares && (
        <button
          type="button"
          title="A model folder on the worker’s disk"
          onClick={() => setUi({ sharedOpen: true })}
        >
          Worker…
        </button>
      )}
      <KeptMenu of={role} />
      {role === "teacher" && <WeightsChoice />}
      <GoneNote of={role} />
      <input
        ref={(input) => {
          folder.current = input;
          // React has no property for it, and without it the picker takes single files only.
          input?.setAttribute("webkitdirectory", "");
        }}
        type="file"
        hidden
        aria-label={`Folder of the ${role}`}
        data-testid={`pick-${role}-folder`}
        onChange={(event) => {
          void open(role, event.target.files).finally(() => {
            if (folder.current) folder.current.value = "";
          });
        }}
      />
      <input
        ref={archive}
        type="file"
        accept=".zip"
        hidden
        aria-label={`Archive of the ${role}`}
        data-testid={`pick-${role}-zip`}
        onChange={(event) => {
          void open(role, event.target.files).finally(() => {
            if (archive.current) archive.current.value = "";
          });
        }}
      />
    </span>
  );
}

/** Keeps a copy of the user's own model, and opens those that are kept. */
function KeptMenu({ of: role }: { of: Role }) {
  const { kept, keeping } = useKeptModels();
  const busy = useUi(isModelAtWork);
  const own = useUi((ui) => ui.models[role]?.origin === "own");
  const folder = own ? models.opened(role)?.folder : undefined;
  const keepable = folder !== undefined && folder.shared === undefined && !keptModels.has(folder);
  return (
    <>
      {keepable && (
        <button
          type="button"
          title="Keeps a copy in this browser: the next visit opens it without asking for the folder"
          disabled={keeping !== null}
          onClick={() => void keptModels.keep(role)}
        >
          {keeping === role ? "Keeping…" : "Keep"}
        </button>
      )}
      {kept.length > 0 && (
        <Menu label="Kept…">
          {kept.map((model) => (
            <span key={model.id} className="kept-model">
              <button type="button" disabled={busy} onClick={() => void keptModels.open(role, model)}>
                {shownName(model.name)}, {gibibytes(model.bytes)}
              </button>
              <button
                type="button"
                aria-label={`Remove ${shownName(model.name)} from this browser`}
                onClick={() => void keptModels.remove(model)}
              >
                Remove
              </button>
            </span>
          ))}
        </Menu>
      )}
    </>
  );
}

/** Says that a reload has closed the user's own model, with a button that opens it again where its files are in reach. */
function GoneNote({ of: role }: { of: Role }) {
  const gone = useGoneFolders((folders) => folders[role]);
  const own = useOwnModels((opened) => opened[role]);
  const kept = useKeptModels(({ kept }) => kept.find(({ id }) => id === gone?.digest));
  const shares = useRuns(({ worker }) => worker.files?.shared != null);
  const busy = useUi(isModelAtWork);
  if (gone === null || own !== null) return null;
  const { name, shared } = gone;
  const openAgain = (): void => {
    if (kept !== undefined) void keptModels.open(role, kept);
    else if (shared !== undefined) void openSharedModel(role, shared);
  };
  return (
    <span className="gone-model" role="status">
      <span className="note">
        Your model “{shownName(name)}” was closed by the reload; the sample’s {role} is used.
      </span>
      {(kept !== undefined || (shared !== undefined && shares)) && (
        <button type="button" disabled={busy} onClick={openAgain}>
          Open it again
        </button>
      )}
      <button type="button" onClick={() => dismissGone(role)}>
        Dismiss
      </button>
    </span>
  );
}

/** The button's words: how far a download is that goes on behind the closed dialog. */
function HubState() {
  const now = useHub((hub) => hub.download);
  return now === null ? "By name…" : `Downloading, ${Math.floor((100 * now.done) / (now.total || 1))} %…`;
}

const WEIGHTS: Record<WeightChoice, string> = {
  f32: "f32",
  auto: "as stored",
  f16: "f16",
  bf16: "bf16",
  int8: "int8",
  int4: "int4",
};

/** How the teacher's matrices are kept on the device. */
function WeightsChoice() {
  const weights = useMemory((state) => state.weights);
  const busy = useUi(isModelAtWork);
  return (
    <label>
      weights{" "}
      <select
        value={weights}
        disabled={busy}
        onChange={(event) => models.chooseTeacherWeights(event.target.value as WeightChoice)}
      >
        {Object.entries(WEIGHTS).map(([choice, title]) => (
          <option key={choice} value={choice}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
