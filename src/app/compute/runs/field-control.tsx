/** The control of one field of a config, made from what its schema says. */

import { Labelled } from "../../base/labelled.tsx";
import type { Field } from "./config-fields.ts";

const TITLES: Readonly<Record<string, string>> = {
  method: "Method",
  control: "Evidence",
  sources_per_task: "Sources per task (K)",
  augmentation: "Augmentation",
  subset: "Part of the library (JSON)",
  terminal_failure_note: "Terminal-failure note",
  batch_size: "Episodes per step",
  signal: "Signal",
  "settings.learning_rate": "Learning rate (paper: 1e-5)",
  seed: "Seed",
  epochs: "Passes",
  memory_limit_gib: "Memory limit",
  "watch.every": "Steps between measurements",
  library: "Library (path)",
  episodes: "Episodes (path)",
  teacher: "Teacher (folder, hub:OWNER/NAME or server)",
  teacher_model: "Teacher’s name on the server",
  calibrate_with: "Teacher’s folder, to calibrate",
  student: "Student (folder or hub:OWNER/NAME)",
  parent: "Continue from (run folder or checkpoint)",
  tokenizer: "Tokenizer (folder)",
  tinker: "A server trains the student",
  "tinker.url": "Address of that server",
  "tinker.base_model": "Student’s name there",
  "tinker.lora_rank": "LoRA rank (0: all weights)",
  "tinker.optimizer": "Optimizer’s settings",
  "tinker.merge": "Merge the adapter at the end",
  device: "Device",
  cards: "Cards",
  "environment.name": "Environment",
  "environment.games": "Games (file or folder)",
  "environment.server": "Server address",
  "environment.server_settings": "Server settings",
  "environment.goals.first": "First goal",
  "environment.goals.count": "Number of goals",
  "environment.simulator": "Simulator (wheel or JAR)",
  "environment.tasks": "Tasks (JSON list)",
  "environment.made.count": "Number to make",
  "environment.made.seed": "First seed",
  "environment.made.size": "Rooms",
  "environment.made.type": "Task type",
  "environment.made.world": "Seed of the world",
  "environment.made.products": "Products per shop",
  "environment.max_decisions": "Maximum decisions",
  "environment.max_tokens": "Maximum tokens per response",
  "environment.prompt": "Prompt template (path)",
  "evaluate.every": "Steps between evaluations",
  seeds: "Seeds",
  "evaluate.tasks": "Tasks to evaluate on (JSON list)",
  at_once: "Concurrent episodes",
  "evaluate.environment": "Use different games",
  "sample.max_decisions": "Maximum decisions",
  "sample.max_tokens": "Maximum tokens per response",
  repetitions: "Executions per task (K)",
  temperature: "Temperature",
  top_p: "Top-p",
  top_k: "Top-k",
};

/** The label of a field, less what it says in brackets. */
export const shortTitleOf = (key: string): string => titleOf(key).replace(/ \(.*\)$/, "");

export function titleOf(key: string): string {
  return (
    TITLES[key] ??
    TITLES[key.replace(/^evaluate\./, "")] ??
    key.replace(/^(settings|sample|environment)\./, "").replaceAll("_", " ")
  );
}

export function FieldControl({
  field: { key, kind, choices, description },
  text,
  absent,
  absentChoice = "default",
  titleOfChoice = (choice) => choice,
  problem,
  disabled = false,
  onChange,
}: {
  field: Field;
  /** As it was typed; empty is the default. */
  text: string;
  /** What holds where it is empty, as the field shows it. */
  absent: string;
  /** What an optional choice is called while it is not made. */
  absentChoice?: string | undefined;
  titleOfChoice?: (choice: string) => string;
  problem: string | undefined;
  disabled?: boolean;
  onChange: (text: string) => void;
}) {
  return (
    <Labelled label={titleOf(key)} problem={problem} title={description}>
      {kind === "choice" ? (
        <select
          value={text || absent}
          disabled={disabled}
          onChange={({ target: { value } }) => onChange(value)}
        >
          {absent === "" && <option value="">{absentChoice}</option>}
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {titleOfChoice(choice)}
            </option>
          ))}
        </select>
      ) : kind === "switch" ? (
        <input
          type="checkbox"
          checked={(text || absent) === "true"}
          disabled={disabled}
          onChange={({ target: { checked } }) =>
            onChange(checked === (absent === "true") ? "" : String(checked))
          }
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
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Labelled>
  );
}
