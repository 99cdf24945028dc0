/** One key of the config in the training form. */
import { environmentRules } from "../../../core/environment/environment.ts";
import { PRODUCTS, ROOM_SIZES } from "../../../core/environment/made-config.ts";
import { ENVIRONMENT_NAMES, type EnvironmentName } from "../../../core/loop/live-config.ts";
import { isOneOf } from "../../../core/one-of.ts";
import { CONTROLS, type Selection } from "../../../core/retrieval/selection.ts";
import { keysOfSelection } from "../../../core/retrieval/selection-keys.ts";
import { TaskListButton } from "../../compute/games/read-button.tsx";
import { ChoosePath } from "../../compute/open/shared-path-dialog.tsx";
import { CONFIG_FIELDS, type Field } from "../../compute/runs/config-fields.ts";
import { FieldControl } from "../../compute/runs/field-control.tsx";
import { getRuns, useRuns } from "../../compute/runs/runs-store.ts";
import { setUi, useUi } from "../../compute/store.ts";
import {
  defaultBatch,
  measuresElsewhere,
  SELECTION_KEYS,
  type SelectionKey,
  setText,
  standardSelection,
  useTrainingForm,
} from "../../compute/training/training-form.ts";
import { CONTROL_TITLES } from "../../url/what-if.ts";
import { PATH_FIELDS } from "./path-fields.ts";

/** What an optional choice is called while it is not made. */
const ABSENT_CHOICES: Readonly<Record<string, string>> = {
  "environment.made.type": "all types in turn",
  signal: "the method’s",
  "environment.server_settings": "released",
};

/** What holds in an environment where one of its keys is empty; null for any other key. */
function liveStandard(given: string, texts: Readonly<Record<string, string>>): string | null {
  const measured = given.startsWith("evaluate.environment.");
  const key = given.replace(/^evaluate\./, "");
  const environment = texts[measured ? "evaluate.environment.name" : "environment.name"] || "alfworld";
  const { limits } = environmentRules(environment);
  const standards: Record<string, string> = {
    "environment.max_decisions": String(limits.decisions),
    "environment.max_tokens": String(limits.responseTokens),
    "environment.made.size": ROOM_SIZES[0],
    "environment.made.products": String(PRODUCTS),
    "environment.tasks": environment === "scienceworld" ? "" : "all",
    "environment.simulator": getRuns().worker.simulator?.file ?? "",
    tasks: "all",
  };
  return standards[key] ?? null;
}

/** What holds where one of the method's own fields is empty, as the field shows it. */
function selectionText(key: SelectionKey, selection: Selection): string {
  const full = {
    control: "graph",
    sources_per_task: "all",
    augmentation: true,
    subset: "all of it",
    terminal_failure_note: false,
  };
  const value = { ...full, ...keysOfSelection(selection) }[key];
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function fieldOf(key: string): Field {
  return CONFIG_FIELDS.find((field) => field.key === key)!;
}

/** Keys of lists of tasks. */
const TASK_KEYS = ["environment.tasks", "evaluate.tasks"] as const;

/** The environment whose tasks one of these keys names. */
function environmentOf(key: string, texts: Readonly<Record<string, string>>): EnvironmentName {
  const elsewhere = key === "evaluate.tasks" && measuresElsewhere({ texts });
  const name = texts[elsewhere ? "evaluate.environment.name" : "environment.name"] ?? "";
  return isOneOf(ENVIRONMENT_NAMES, name) ? name : "alfworld";
}

/** The control of one key of the config. */
export function ConfigField({
  field,
  problem,
  disabled,
}: {
  field: Field;
  problem?: string;
  disabled: boolean;
}) {
  const text = useTrainingForm(({ texts }) => texts[field.key] ?? "");
  const { key, kind, standard } = field;
  const set = (value: string) => setText(key, value);
  const data = useTrainingForm((form) => form.data);
  const where = useTrainingForm((form) => form.where);
  const library = useUi((ui) => ui.library);
  const texts = useTrainingForm((form) => form.texts);
  const place = useUi((ui) => ui.place);
  const ofMethod = isOneOf(SELECTION_KEYS, key);
  const absent =
    key === "batch_size"
      ? String(defaultBatch({ data, texts }, library))
      : ofMethod
        ? selectionText(key, standardSelection({ texts }, place) ?? {})
        : (liveStandard(key, texts) ?? standard);
  const shared = useRuns((state) => state.worker.files?.shared ?? null);
  const control = (
    <FieldControl
      field={field}
      text={text}
      absent={absent}
      absentChoice={ABSENT_CHOICES[key]}
      titleOfChoice={(choice) =>
        isOneOf(CONTROLS, choice) && key === "control" ? CONTROL_TITLES[choice] : choice
      }
      problem={problem}
      disabled={disabled}
      onChange={(value) => set(ofMethod && kind === "choice" && value === absent ? "" : value)}
    />
  );
  const folder = where !== "page" ? PATH_FIELDS[key] : undefined;
  const choosesPath = shared !== null && folder !== undefined;
  const isTasks = isOneOf(TASK_KEYS, key);
  if (!choosesPath && !isTasks) return control;
  return (
    <span className="path-field">
      {control}
      {isTasks && (
        <TaskListButton
          environment={environmentOf(key, texts)}
          disabled={disabled}
          onRead={({ tasks, note }) => {
            set(JSON.stringify(tasks));
            if (note !== null) setUi({ notice: { kind: "info", text: note } });
          }}
        />
      )}
      {choosesPath && (
        <ChoosePath
          what={key}
          folder={folder}
          disabled={disabled}
          onChoose={(path) => set(path === "" ? shared : `${shared.replace(/\/$/, "")}/${path}`)}
        />
      )}
    </span>
  );
}
