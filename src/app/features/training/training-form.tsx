/** What a run is to do, here or on the worker: one form, made from the schema of the config. */

import { type ReactNode, useRef } from "react";
import { type Method, methodLabel } from "../../../core/method/index.ts";
import { isOneOf } from "../../../core/one-of.ts";
import { countOf } from "../../../core/plural.ts";
import { startedAt } from "../../../protocol/target.ts";
import { Labelled } from "../../base/labelled.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { isFocusFree } from "../../base/use-focus-back.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { useGames } from "../../compute/games/games.ts";
import { EndOfTurnSwitch } from "../../compute/models/end-of-turn-switch.tsx";
import { refusal, useMemory } from "../../compute/models/memory.ts";
import { models, useStudentRun } from "../../compute/models/models.ts";
import { LONGEST_NAME } from "../../compute/run-card/run-name.tsx";
import { CONFIG_FIELDS, isReached } from "../../compute/runs/config-fields.ts";
import { useTargets } from "../../compute/runs/launches.ts";
import { useRuns } from "../../compute/runs/runs-store.ts";
import type { Target } from "../../compute/runs/worker-answers.ts";
import { useUi } from "../../compute/store.ts";
import { firstProblem } from "../../compute/training/form-problems.ts";
import { studentTraining } from "../../compute/training/training.ts";
import {
  type ComposedConfig,
  composeConfig,
  liveUnits,
  WORKER_KEYS,
} from "../../compute/training/training-config.ts";
import {
  choosePreset,
  type DataChoice,
  formMethod,
  formStages,
  methodWords,
  PRESET_NAMES,
  type PresetName,
  presetOf,
  responsesOf,
  SELECTION_KEYS,
  setTrainingForm,
  stageTitle,
  standardSelection,
  useTrainingForm,
} from "../../compute/training/training-form.ts";
import { useHeldOut } from "../../compute/training/training-held-out.ts";
import { useSending } from "../../compute/training/worker-training.ts";
import { ConfigField, fieldOf } from "./config-field.tsx";
import { ConfigView } from "./config-view.tsx";
import { Cost } from "./cost.tsx";
import { EvaluationFields } from "./evaluation-fields.tsx";
import { HeldOutFields } from "./held-out-fields.tsx";
import { planWords } from "./plan-words.ts";
import { ResponsesFields } from "./responses-fields.tsx";
import { trainingProbe } from "./training-probe.ts";

const PRESET_TITLES: Record<PresetName, string> = {
  "gc-opd": `${methodLabel("gc-opd")}: 32 and 1e-5`,
  "gc-opd+ga": `${methodLabel("gc-opd+ga")}: 32 and 1e-5`,
  sample: "sample: 4 and 1e-4",
};

/** Fields that stand in the first rows, or elsewhere in the page. */
const ELSEWHERE: readonly string[] = [
  "$schema",
  ...["library", "episodes", "teacher", "student", "parent", "tokenizer", "episode_ids", "method", "epochs"],
  ...["batch_size", "settings.learning_rate", "device", "cards", "teacher_dtype", "memory_limit_gib"],
  ...SELECTION_KEYS,
  ...["signal", "end_of_turn"],
  ...["teacher_model", "calibrate_with"],
  ...CONFIG_FIELDS.map(({ key }) => key).filter((key) =>
    /^(environment|evaluate|sample|tinker|watch)\b/.test(key),
  ),
];

/** Models of a run that is not the page's; what counts only with a server is there only beside one. */
function modelKeys(texts: Readonly<Record<string, string>>): string[] {
  const isServed = /^https?:/.test(texts.teacher?.trim() ?? "");
  const served = ["teacher_model", "calibrate_with"].filter((key) => isServed || (texts[key] ?? "") !== "");
  const tinker = CONFIG_FIELDS.map(({ key }) => key).filter((key) => /^tinker\b/.test(key));
  return [
    ...["teacher", ...served, "student", "parent", "tokenizer"],
    ...tinker.filter((key) => isReached(key, texts)),
  ];
}

/** "target:NAME", or the names that it has. */
function targetModels(target: Target | undefined): string {
  const names = Object.keys(target?.models ?? {}).map((name) => `target:${shownName(name)}`);
  return names.length === 0 ? "target:NAME of a model" : names.join(", ");
}

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
  const refused = refusal("train", useMemory());
  const from = useTrainedStudent();
  const submit = useRef<HTMLButtonElement>(null);
  useHeldOut();
  const sending = useSending((state) => state.label);
  const { status } = ui.training;
  const busy = form.where === "page" ? status !== "idle" : sending !== null;
  const there = form.where !== "page";
  const { file: targetsFile, targets } = useTargets();
  const openGames = useGames(({ tasks }) => tasks);
  const composed = composeConfig(form, ui, worker, openGames);
  const { problems } = composed;
  const shown = responsesOf(form) === "live" ? ui.library : ui.decision;
  const ready = form.data === "files" || shown !== null;
  const stages = formStages(form);
  const method = composed.config && methodWords(composed.config);
  const changed = method !== null && method !== composed.config?.method;
  const preset = changed ? null : presetOf(form);
  const field = (key: string): ReactNode => (
    <ConfigField key={key} field={fieldOf(key)} problem={problems[key]} disabled={busy} />
  );
  const start =
    firstProblem(problems) ??
    (there && worker.status === "none" ? "no worker serves this page: `npm start` does" : undefined) ??
    (form.where === "target" && targets[form.target] === undefined
      ? targetsFile === null
        ? "the targets are still being read"
        : "this target is gone: choose another place"
      : undefined);
  return (
    <form
      className="training-form"
      onSubmit={(event) => {
        event.preventDefault();
        void studentTraining.start();
      }}
    >
      <fieldset className="form-row">
        <legend>Data and models</legend>
        <ResponsesFields field={field} disabled={busy} openGames={openGames} />
        {there && modelKeys(form.texts).map(field)}
        {there && (
          <p className="note">
            A model that is left empty is the one open here; what the worker lacks is sent to it.{" "}
            {form.where === "worker"
              ? "Models of the hub are downloaded by the worker."
              : `Files of this machine are sent to the target; target:/PATH and ${targetModels(targets[form.target])} are there already. Models of the hub are downloaded there.`}
            {worker.files?.shared === null &&
              " A worker that is started with --files FOLDER lets paths be chosen from that folder."}
          </p>
        )}
      </fieldset>
      <fieldset className="form-row">
        <legend>Method</legend>
        {field("method")}
        <MethodNote method={formMethod(form)} />
        {stages.map((stage, n) => (
          <Labelled
            // biome-ignore lint/suspicious/noArrayIndexKey: a stage is its place in the method
            key={`${form.texts.method} ${n}`}
            label={`${stageTitle(stage)} passes`}
            problem={problems.epochs}
          >
            <input
              type="number"
              min={0}
              max={999}
              value={form.passes[n] ?? ""}
              placeholder={String(stage.epochs)}
              disabled={busy}
              aria-invalid={problems.epochs !== undefined}
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
            {preset === null && <option value="">custom</option>}
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
        {field("signal")}
        {responsesOf(form) === "recorded" && <EndOfTurnSwitch />}
      </fieldset>
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
            checked={form.where === "worker"}
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
        {Object.entries(targets).map(([name, target]) => (
          <label className="choice" key={name}>
            <input
              type="radio"
              name="where"
              checked={form.where === "target" && form.target === name}
              onChange={() => setTrainingForm({ where: "target", target: name })}
            />{" "}
            target {shownName(name)}: {shownName(startedAt(target))}
          </label>
        ))}
        {form.where === "target" && (
          <Labelled label="Name of the run">
            <input
              value={form.name}
              maxLength={LONGEST_NAME}
              placeholder="optional"
              onChange={({ target }) => setTrainingForm({ name: target.value })}
            />
          </Labelled>
        )}
        {there && field("device")}
        {there && field("cards")}
      </fieldset>
      <div className="training-actions">
        {busy && !there && status === "probing" ? (
          <button type="button" onClick={() => void trainingProbe.cancel()}>
            Cancel the probe
          </button>
        ) : (
          <button
            ref={submit}
            type="submit"
            className="primary"
            disabled={
              busy || !ready || start !== undefined || (!there && (refused !== null || isModelAtWork(ui)))
            }
            title={(there ? null : refused) ?? undefined}
          >
            {!there
              ? "Update"
              : sending !== null
                ? "Starting…"
                : form.where === "worker"
                  ? "Start on the worker"
                  : `Launch on ${shownName(form.target)}`}{" "}
            <span className="key">u</span>
          </button>
        )}
        <PlanLine composed={composed} />
        {from !== null && (
          <span className="note" data-testid="starts-from">
            {from}{" "}
            <button
              type="button"
              disabled={isModelAtWork(ui)}
              onClick={async () => {
                await models.revertStudent();
                // The button is gone with its line.
                if (isFocusFree()) submit.current?.focus();
              }}
            >
              Start from the opened one
            </button>
          </span>
        )}
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
      <Cost composed={composed} />
      <HeldOutFields disabled={busy} problem={composed.problems["watch.every"]} />
      <EvaluationFields field={field} disabled={busy} />
      <details className="all-settings">
        <summary>All settings</summary>
        <div className="form-row">
          {CONFIG_FIELDS.filter(
            ({ key }) =>
              !ELSEWHERE.includes(key) && (there || !WORKER_KEYS.includes(key)) && isReached(key, form.texts),
          ).map(({ key }) => field(key))}
        </div>
      </details>
      <ConfigView composed={composed} />
    </form>
  );
}

/** What the form comes to, where the form itself is not to be seen. */
export function FormLine() {
  const form = useTrainingForm();
  const ui = useUi();
  const worker = useRuns((state) => state.worker);
  const openGames = useGames(({ tasks }) => tasks);
  const composed = composeConfig(form, ui, worker, openGames);
  const from = useTrainedStudent();
  return (
    <>
      <PlanLine composed={composed} /> {from !== null && <span className="note">{from}</span>}
    </>
  );
}

/** Says that the run would begin with a student trained before, and not with the one that was opened; null where not. */
function useTrainedStudent(): string | null {
  const student = useUi((ui) => ui.models.student);
  const { id, steps: before } = useStudentRun();
  const named = useTrainingForm(({ where, texts }) => where !== "page" && !!texts.student?.trim());
  if (named || (id === null && student?.origin !== "updated")) return null;
  // Until the device has opened it, as after a reload, it has those that it was kept with.
  const steps = countOf(student?.steps ?? before, "optimizer step");
  return `Starts from the student that was trained here (${steps}), not from the one that was opened.`;
}

/** What the chosen method is, where it comes from, and which parts of it are uncertain. */
function MethodNote({ method }: { method: Method | null }) {
  if (method === null) return null;
  const { description, source, uncertain = [] } = method;
  return (
    <p className="note" data-testid="method-note">
      {description} {source !== undefined && `Source: ${source}.`}{" "}
      {uncertain.length > 0 && `Uncertain: ${uncertain.join("; ")}.`}
    </p>
  );
}

/** What the form comes to, in a sentence; none while something in it is wrong. */
function PlanLine({ composed: { config } }: { composed: ComposedConfig }) {
  const episodes = useEpisodes(useTrainingForm(({ data }) => data));
  const environment = config?.environment;
  const units = environment === undefined ? episodes : liveUnits(environment);
  return (
    <span className="note" data-testid="plan">
      {config !== null && planWords(config, units)}
    </span>
  );
}
