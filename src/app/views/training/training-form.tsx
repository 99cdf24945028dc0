/** What a run is to do, here or on the worker: one form, made from the schema of the config. */

import { type ReactNode, useId } from "react";
import { isOneOf } from "../../../core/one-of.ts";
import { CONTROLS, type Selection } from "../../../core/retrieval/selection.ts";
import { CONTROL_TITLES } from "../../place/what-if.ts";
import { CONFIG_FIELDS, type Field } from "../../runs/config-fields.ts";
import { useRuns } from "../../runs/runs-store.ts";
import { useMemory } from "../../session/memory.ts";
import { startTraining, stopTraining } from "../../session/training.ts";
import { composeConfig, WORKER_KEYS } from "../../session/training-config.ts";
import {
  choosePreset,
  DATA_CHOICES,
  type DataChoice,
  defaultBatch,
  formStages,
  methodWords,
  PRESET_NAMES,
  type PresetName,
  presetOf,
  SELECTION_KEYS,
  type SelectionKey,
  setText,
  setTrainingForm,
  standardSelection,
  useTrainingForm,
} from "../../session/training-form.ts";
import { cancelProbe } from "../../session/training-probe.ts";
import { useSending } from "../../session/worker-training.ts";
import { countOf } from "../../shell/plural.ts";
import { useUi } from "../../state/store.ts";
import { EndOfTurnSwitch } from "../end-of-turn-switch.tsx";
import { ChoosePath } from "../shared-path-dialog.tsx";
import { ConfigView } from "./config-view.tsx";
import { Cost } from "./cost.tsx";
import { PATH_FIELDS } from "./path-fields.ts";

const DATA: Record<DataChoice, string> = {
  episode: "this episode",
  task: "this task’s episodes",
  library: "the whole library",
  files: "files on the worker’s disk",
};

const PRESET_TITLES: Record<PresetName, string> = {
  "gc-opd": "GC-OPD: 32 and 1e-5",
  "gc-opd+ga": "GC-OPD+GA: 32 and 1e-5",
  sample: "sample: 4 and 1e-4",
};

const TITLES: Readonly<Record<string, string>> = {
  method: "Method",
  control: "Evidence",
  sources_per_task: "Sources per task (K)",
  augmentation: "Augmentation",
  terminal_failure_note: "Terminal-failure note",
  batch_size: "Episodes a step",
  "settings.learning_rate": "Learning rate (paper: 1e-5)",
  seed: "Seed",
  library: "Library, a path",
  episodes: "Episodes, a path",
  teacher: "Teacher, a folder or hub:OWNER/NAME",
  student: "Student, a folder or hub:OWNER/NAME",
  parent: "Goes on from, a run’s folder or checkpoint",
  tokenizer: "Tokenizer, a folder",
  device: "Device",
  cards: "Cards",
  sample: "Play the tasks again",
};

/** Fields that stand in the first rows, or elsewhere in the page. */
const ELSEWHERE: readonly string[] = [
  "$schema",
  ...["library", "episodes", "teacher", "student", "parent", "tokenizer", "episode_ids", "method", "epochs"],
  ...["batch_size", "settings.learning_rate", "device", "cards", "teacher_dtype", "memory_limit_gib"],
  ...SELECTION_KEYS,
  "end_of_turn",
  // The form trains on episodes; a live environment would take their place.
  ...CONFIG_FIELDS.map(({ key }) => key).filter((key) => key.split(".")[0] === "environment"),
];

function useEpisodes(data: DataChoice): number | null {
  const library = useUi((ui) => ui.library);
  const task = useUi((ui) => ui.task);
  if (data === "files") return null;
  if (data === "episode") return 1;
  if (data === "task") return task?.episodes.filter(({ decisions }) => decisions > 0).length ?? 0;
  return library?.tasks.reduce((sum, each) => sum + each.episodes, 0) ?? 0;
}

export function TrainingFormPanel() {
  const form = useTrainingForm();
  const ui = useUi();
  const worker = useRuns((state) => state.worker);
  useMemory();
  const sending = useSending((state) => state.label);
  const { status } = ui.training;
  const busy = form.where === "page" ? status !== "idle" : sending !== null;
  const there = form.where === "worker";
  const composed = composeConfig(form, ui, worker);
  const { problems } = composed;
  const ready = form.data === "files" || ui.decision !== null;
  const stages = formStages(form);
  const method = composed.config && methodWords(composed.config);
  const changed = method !== null && method !== composed.config?.method;
  const preset = changed ? null : presetOf(form);
  const field = (key: string): ReactNode => (
    <ConfigField key={key} field={fieldOf(key)} problem={problems[key]} disabled={busy} />
  );
  const start =
    problems[""] ??
    Object.entries(problems).map(([key, problem]) => `${key}: ${problem}`)[0] ??
    (there && worker.status === "none" ? "no worker serves this page: `npm start` does" : undefined);
  return (
    <form
      className="training-form"
      onSubmit={(event) => {
        event.preventDefault();
        void startTraining();
      }}
    >
      <fieldset className="form-row">
        <legend>Where</legend>
        <label className="choice">
          <input
            type="radio"
            name="where"
            checked={!there}
            onChange={() =>
              setTrainingForm({ where: "page", data: form.data === "files" ? "episode" : form.data })
            }
          />{" "}
          this page:{" "}
          {ui.device.kind === "unknown" ? "device not known yet" : ui.device.adapter || ui.device.kind}
        </label>
        <label className="choice">
          <input
            type="radio"
            name="where"
            checked={there}
            disabled={worker.status === "none"}
            onChange={() => setTrainingForm({ where: "worker" })}
          />{" "}
          the worker
          {worker.status === "none" && ": none serves this page"}
          {worker.status !== "none" && worker.device && (
            <>
              : <span data-measured>{worker.device}</span>
            </>
          )}
        </label>
        {there && field("device")}
        {there && field("cards")}
      </fieldset>
      <fieldset className="form-row">
        <legend>Data and models</legend>
        <Labelled label="Train on">
          <select
            value={form.data}
            disabled={busy}
            onChange={({ target }) =>
              isOneOf(DATA_CHOICES, target.value) && setTrainingForm({ data: target.value })
            }
          >
            {Object.entries(DATA)
              .filter(([data]) => there || data !== "files")
              .map(([data, title]) => (
                <option key={data} value={data}>
                  {title}
                </option>
              ))}
          </select>
        </Labelled>
        {form.data === "files" && ["library", "episodes"].map(field)}
        {there && ["teacher", "student", "parent", "tokenizer"].map(field)}
        {there && (
          <p className="note">
            An empty model is the one that is open here; what the worker does not have is sent to it. A name
            of the hub is downloaded by the worker.
            {worker.files?.shared === null &&
              " A worker that is started with --files FOLDER lets paths be chosen from that folder."}
          </p>
        )}
      </fieldset>
      <fieldset className="form-row">
        <legend>Method</legend>
        {field("method")}
        {stages.map((stage, n) => (
          <Labelled
            // biome-ignore lint/suspicious/noArrayIndexKey: a stage is its place in the method
            key={`${form.texts.method} ${n}`}
            label={`${n === 0 ? "Vanilla" : "Graph-conditioned"} passes`}
            problem={problems.epochs}
          >
            <input
              type="number"
              min={0}
              max={999}
              value={form.passes[n] ?? ""}
              placeholder={String(stage.epochs)}
              disabled={busy}
              onChange={(event) =>
                setTrainingForm({
                  passes: stages.map((_, m) => (m === n ? event.target.value : (form.passes[m] ?? ""))),
                })
              }
            />
          </Labelled>
        ))}
        <Labelled label="Preset">
          <select
            value={preset ?? ""}
            disabled={busy}
            onChange={({ target }) => isOneOf(PRESET_NAMES, target.value) && choosePreset(target.value)}
          >
            {preset === null && <option value="">own values</option>}
            {PRESET_NAMES.map((name) => (
              <option key={name} value={name}>
                {PRESET_TITLES[name]}
              </option>
            ))}
          </select>
        </Labelled>
        {field("batch_size")}
        {field("settings.learning_rate")}
        {standardSelection(form, ui.place) !== null && SELECTION_KEYS.map(field)}
        <EndOfTurnSwitch />
      </fieldset>
      <details className="all-settings">
        <summary>All settings</summary>
        <div className="form-row">
          {CONFIG_FIELDS.filter(
            ({ key }) => !ELSEWHERE.includes(key) && (there || !WORKER_KEYS.includes(key)),
          ).map(({ key }) => field(key))}
        </div>
      </details>
      <ConfigView composed={composed} />
      <Cost composed={composed} />
      <div className="training-actions">
        {busy && !there && status === "probing" ? (
          <button type="button" onClick={() => void cancelProbe()}>
            Cancel the probe
          </button>
        ) : busy && !there ? (
          <button type="button" disabled={status === "cancelling"} onClick={() => void stopTraining()}>
            {status === "running"
              ? "Stop after this step"
              : status === "stopping"
                ? "Stop at once, lose this step"
                : "Cancel requested…"}
          </button>
        ) : (
          <button
            type="submit"
            className="primary"
            disabled={busy || !ready || start !== undefined || (!there && ui.scoring.status === "running")}
          >
            {!there ? "Update" : sending === null ? "Start on the worker" : "Starting…"}{" "}
            <span className="key">u</span>
          </button>
        )}
        <PlanLine method={method} />
        {sending !== null && (
          <span role="status" data-testid="sending">
            {sending}…{" "}
            <button type="button" onClick={() => useSending.getState().cancel?.()}>
              Cancel the start
            </button>
          </span>
        )}
        {ready && start !== undefined && <span className="fault">{start}</span>}
      </div>
    </form>
  );
}

/** What the form comes to, in a sentence. */
function PlanLine({ method }: { method: string | null }) {
  const { passes, data, texts } = useTrainingForm();
  const episodes = useEpisodes(data);
  const library = useUi((ui) => ui.library);
  const batch = Number(texts.batch_size || defaultBatch({ data }, library));
  const stages = formStages({ texts });
  const counts = stages.map((stage, n) =>
    episodes === null ? Number.NaN : Number(passes[n] || stage.epochs) * Math.ceil(episodes / batch),
  );
  if (episodes === null || counts.some(Number.isNaN))
    return (
      <span className="note" data-testid="plan">
        {method !== null && `method: ${method}`}
      </span>
    );
  const [vanilla = 0, graph] = counts;
  return (
    <span className="note" data-testid="plan">
      {vanilla} vanilla {vanilla === 1 ? "step" : "steps"}
      {graph !== undefined && `, then ${graph} graph-conditioned`}, over {countOf(episodes, "episode")}
      {method !== null && `; method: ${method}`}
    </span>
  );
}

/** What holds where one of the method's own fields is empty, as the field shows it. */
function selectionText(
  key: SelectionKey,
  { control = "graph", sourcesPerTask, augmentation = true, terminalFailureNote = false }: Selection,
): string {
  const texts: Record<SelectionKey, string> = {
    control,
    sources_per_task: sourcesPerTask === undefined ? "all" : String(sourcesPerTask),
    augmentation: String(augmentation),
    terminal_failure_note: String(terminalFailureNote),
  };
  return texts[key];
}

function fieldOf(key: string): Field {
  return CONFIG_FIELDS.find((field) => field.key === key)!;
}

function titleOf(key: string): string {
  return TITLES[key] ?? key.replace(/^(settings|sample)\./, "").replaceAll("_", " ");
}

function ConfigField({ field, problem, disabled }: { field: Field; problem?: string; disabled: boolean }) {
  const text = useTrainingForm(({ texts }) => texts[field.key] ?? "");
  const { key, kind, choices, standard, description } = field;
  const set = (value: string) => setText(key, value);
  const data = useTrainingForm((form) => form.data);
  const library = useUi((ui) => ui.library);
  const texts = useTrainingForm((form) => form.texts);
  const place = useUi((ui) => ui.place);
  const ofMethod = isOneOf(SELECTION_KEYS, key);
  const absent =
    key === "batch_size"
      ? String(defaultBatch({ data }, library))
      : ofMethod
        ? selectionText(key, standardSelection({ texts }, place) ?? {})
        : standard;
  const shared = useRuns((state) => state.worker.files?.shared ?? null);
  const control = (
    <Labelled label={titleOf(key)} problem={problem} title={description}>
      {kind === "choice" ? (
        <select
          value={text || absent}
          disabled={disabled}
          onChange={({ target: { value } }) => set(ofMethod && value === absent ? "" : value)}
        >
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {isOneOf(CONTROLS, choice) && key === "control" ? CONTROL_TITLES[choice] : choice}
            </option>
          ))}
        </select>
      ) : kind === "switch" ? (
        <input
          type="checkbox"
          checked={(text || absent) === "true"}
          disabled={disabled}
          onChange={({ target: { checked } }) => set(checked === (absent === "true") ? "" : String(checked))}
        />
      ) : (
        <input
          type={kind === "integer" ? "number" : "text"}
          className={kind}
          value={text}
          placeholder={absent}
          disabled={disabled}
          aria-invalid={problem !== undefined}
          spellCheck={false}
          onChange={(event) => set(event.target.value)}
        />
      )}
    </Labelled>
  );
  const folder = PATH_FIELDS[key];
  if (shared === null || folder === undefined) return control;
  return (
    <span className="path-field">
      {control}
      <ChoosePath
        what={key}
        folder={folder}
        disabled={disabled}
        onChoose={(path) => set(path === "" ? shared : `${shared.replace(/\/$/, "")}/${path}`)}
      />
    </span>
  );
}

function Labelled({
  label,
  problem,
  title,
  children,
}: {
  label: string;
  problem?: string | undefined;
  title?: string;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <span className="form-field">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is the child */}
      <label title={title || undefined} aria-describedby={problem === undefined ? undefined : id}>
        <span className="caption">{label}</span>
        {children}
      </label>
      {problem !== undefined && (
        <span className="fault" id={id} role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
