/** What is to be played: the model, the tasks, how often, and the limits. */
import { type ReactNode, useMemo } from "react";
import { ENVIRONMENT_NAMES } from "../../../core/loop/live-config.ts";
import { isOneOf } from "../../../core/one-of.ts";
import { countOf } from "../../../core/plural.ts";
import { Labelled } from "../../base/labelled.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { findGames, kindOfGame } from "../../compute/games/find-games.ts";
import { useGames } from "../../compute/games/games.ts";
import { readPickedPrompt } from "../../compute/games/picked-files.ts";
import { ReadButton, TaskListButton } from "../../compute/games/read-button.tsx";
import { ModelPicker } from "../../compute/models/model-picker.tsx";
import { FieldControl } from "../../compute/runs/field-control.tsx";
import { ROLES, useUi } from "../../compute/store.ts";
import {
  composeLiveRun,
  type LiveRunField,
  liveRunField,
  setLiveRunForm,
  setLiveRunText,
  standardText,
  useLiveRunForm,
} from "./live-run-form.ts";
import { liveRuns } from "./live-runs.ts";

const KINDS = { evaluate: "Evaluate", collect: "Collect" } as const;

export function LiveRunForm() {
  const form = useLiveRunForm();
  const games = useGames(({ tasks }) => tasks);
  const computing = useUi(isModelAtWork);
  const models = useUi((ui) => ui.models);
  const composed = useMemo(() => composeLiveRun(form, games), [form, games]);
  const { plan, problems, tasks, of, episodes } = composed;
  const own = findGames(games, { type: "", words: "" }).filter(
    ({ environment }) => environment === form.environment,
  );
  const types = [...new Set(own.map(kindOfGame))].sort();
  const isCollection = form.kind === "collect";
  const field = (key: LiveRunField) => (
    <FieldControl
      key={key}
      field={liveRunField(key)}
      text={form.texts[key]}
      absent={standardText(key, form)}
      problem={problems[key]}
      onChange={(text) => setLiveRunText(key, text)}
    />
  );
  return (
    <form
      className="training-form live-run-form"
      aria-label="A collection or an evaluation"
      onSubmit={(event) => {
        event.preventDefault();
        if (plan !== null) void liveRuns.start(plan);
      }}
    >
      <Labelled label="Task to run">
        <select
          value={form.kind}
          // Teachers collect and students are evaluated, unless another model is chosen afterwards.
          onChange={({ target }) =>
            setLiveRunForm(
              target.value === "collect"
                ? { kind: "collect", role: "teacher" }
                : { kind: "evaluate", role: "student" },
            )
          }
        >
          {Object.entries(KINDS).map(([kind, title]) => (
            <option key={kind} value={kind}>
              {title}
            </option>
          ))}
        </select>
      </Labelled>
      <Labelled label="Model">
        <select
          value={form.role}
          onChange={({ target }) => isOneOf(ROLES, target.value) && setLiveRunForm({ role: target.value })}
        >
          {ROLES.map((role) => (
            <option key={role} value={role}>
              {role}
              {models[role] === null ? "" : `: ${models[role].info.model}`}
            </option>
          ))}
        </select>
      </Labelled>
      <ModelPicker of={form.role} />
      <Labelled label="Environment" problem={problems.tasks}>
        <select
          value={form.environment}
          onChange={({ target }) =>
            isOneOf(ENVIRONMENT_NAMES, target.value) &&
            setLiveRunForm({ environment: target.value, type: "", list: null, prompt: null })
          }
        >
          {ENVIRONMENT_NAMES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </Labelled>
      <Labelled label="Type">
        <select value={form.type} onChange={({ target }) => setLiveRunForm({ type: target.value })}>
          <option value="">all types</option>
          {types.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </Labelled>
      <Labelled label="Words in the task’s name">
        <input
          type="search"
          value={form.words}
          placeholder="all tasks"
          onChange={({ target }) => setLiveRunForm({ words: target.value })}
        />
      </Labelled>
      <Chosen
        title="List of tasks"
        file={form.list === null ? "none" : `${form.list.name}, ${countOf(form.list.tasks.length, "task")}`}
        testId="listed-tasks"
        note={form.list?.note ?? null}
        problem={problems.list}
        onLeave={form.list === null ? null : () => setLiveRunForm({ list: null })}
      >
        <TaskListButton
          environment={form.environment}
          disabled={false}
          onRead={(list) => setLiveRunForm({ list })}
        />
      </Chosen>
      {field(isCollection ? "repetitions" : "seeds")}
      {isCollection && (
        <Labelled label="Also run plans">
          <input
            type="checkbox"
            checked={form.planner}
            onChange={({ target }) => setLiveRunForm({ planner: target.checked })}
          />
        </Labelled>
      )}
      {field("at_once")}
      <fieldset className="form-row limits">
        <legend>Limits</legend>
        {field("environment.max_decisions")}
        {field("environment.max_tokens")}
      </fieldset>
      <fieldset className="form-row limits">
        <legend>Sampling</legend>
        {field("temperature")}
        {field("top_p")}
        {field("top_k")}
      </fieldset>
      <Chosen
        title="Prompt"
        file={form.prompt?.name ?? "the environment’s own"}
        testId="chosen-prompt"
        onLeave={form.prompt === null ? null : () => setLiveRunForm({ prompt: null })}
      >
        <ReadButton
          label="A prompt template"
          testId="prompt-template"
          accept=".json"
          disabled={false}
          read={(files) => readPickedPrompt(files, form.environment)}
          onRead={(prompt) => setLiveRunForm({ prompt })}
        >
          Choose a template…
        </ReadButton>
      </Chosen>
      <div className="training-actions">
        <button type="submit" className="primary" disabled={plan === null || computing}>
          {KINDS[form.kind]}
        </button>
        <span className="note" data-testid="live-run-plan">
          {`${tasks.length.toLocaleString("en")} of ${countOf(of, "open task")}`}
          {episodes !== null && `: ${countOf(episodes, "episode")}`}
        </span>
      </div>
    </form>
  );
}

/** A file that may be chosen, with the button for it. */
function Chosen({
  title,
  file,
  testId,
  note = null,
  problem,
  onLeave,
  children,
}: {
  title: string;
  /** What is chosen. */
  file: string;
  testId: string;
  note?: string | null;
  problem?: string | undefined;
  /** Null where none is. */
  onLeave: (() => void) | null;
  children: ReactNode;
}) {
  return (
    <fieldset className="form-row limits chosen-file">
      <legend>{title}</legend>
      {children}
      <bdi data-testid={testId}>{shownName(file, 100)}</bdi>
      {onLeave !== null && (
        <button type="button" onClick={onLeave}>
          Leave it out
        </button>
      )}
      {note !== null && <span className="note">{note}</span>}
      {problem !== undefined && (
        <span className="fault" role="alert">
          {shownName(problem, 1000)}
        </span>
      )}
    </fieldset>
  );
}
