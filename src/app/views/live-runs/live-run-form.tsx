/** What is to be played: the model, the tasks, how often, and the limits. */
import { useMemo } from "react";
import { isOneOf } from "../../../core/one-of.ts";
import { findGames, kindOfGame } from "../../session/find-games.ts";
import { useGames } from "../../session/games.ts";
import {
  composeLiveRun,
  type LiveRunField,
  type LiveRunForm as LiveRunFormState,
  setLiveRunForm,
  setLiveRunText,
  standardText,
  useLiveRunForm,
} from "../../session/live-run-form.ts";
import { startLiveRun } from "../../session/live-runs.ts";
import { countOf } from "../../shell/plural.ts";
import { isModelAtWork } from "../../state/computing.ts";
import { ROLES, useUi } from "../../state/store.ts";
import { shownName } from "../../text/shown-text.ts";
import { TaskListButton } from "../task-list-button.tsx";
import { Labelled } from "../training/labelled.tsx";

const TITLES: Record<LiveRunField, string> = {
  repetitions: "Executions of each task (K)",
  seeds: "Seeds",
  at_once: "Episodes at once",
  max_decisions: "Maximum decisions",
  max_tokens: "Maximum tokens per response",
};

const KINDS = { evaluate: "Evaluate", collect: "Collect" } as const;
const ENVIRONMENTS = ["alfworld", "webshop"] as const;

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
    <TextField key={key} field={key} environment={form.environment} problem={problems[key]} />
  );
  return (
    <form
      className="training-form live-run-form"
      aria-label="A collection or an evaluation"
      onSubmit={(event) => {
        event.preventDefault();
        if (plan !== null) void startLiveRun(plan);
      }}
    >
      <Labelled label="Task to run">
        <select
          value={form.kind}
          onChange={({ target }) =>
            setLiveRunForm({ kind: target.value === "collect" ? "collect" : "evaluate" })
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
      <Labelled label="Environment" problem={problems.tasks}>
        <select
          value={form.environment}
          onChange={({ target }) =>
            isOneOf(ENVIRONMENTS, target.value) &&
            setLiveRunForm({ environment: target.value, type: "", list: null })
          }
        >
          {ENVIRONMENTS.map((name) => (
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
      <ListedTasks environment={form.environment} list={form.list} problem={problems.list} />
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
        {field("max_decisions")}
        {field("max_tokens")}
      </fieldset>
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

/** The list of tasks that is chosen, if any. */
function ListedTasks({
  environment,
  list,
  problem,
}: Pick<LiveRunFormState, "environment" | "list"> & { problem: string | undefined }) {
  return (
    <fieldset className="form-row limits task-list">
      <legend>List of tasks</legend>
      <TaskListButton
        environment={environment}
        disabled={false}
        onRead={(picked) => setLiveRunForm({ list: picked })}
      />
      {list !== null && (
        <>
          <span data-testid="listed-tasks">
            <bdi>{shownName(list.name, 80)}</bdi>, {countOf(list.tasks.length, "task")}
          </span>
          <button type="button" onClick={() => setLiveRunForm({ list: null })}>
            Leave it out
          </button>
          {list.note !== null && <span className="note">{list.note}</span>}
        </>
      )}
      {problem !== undefined && (
        <span className="fault" role="alert">
          {shownName(problem, 1000)}
        </span>
      )}
    </fieldset>
  );
}

function TextField({
  field,
  environment,
  problem,
}: {
  field: LiveRunField;
  environment: string;
  problem: string | undefined;
}) {
  const text = useLiveRunForm(({ texts }) => texts[field]);
  return (
    <Labelled label={TITLES[field]} problem={problem}>
      <input
        type="text"
        inputMode="numeric"
        className={field === "seeds" ? "seeds" : "number"}
        value={text}
        placeholder={standardText(field, environment)}
        aria-invalid={problem !== undefined}
        onChange={({ target }) => setLiveRunText(field, target.value)}
      />
    </Labelled>
  );
}
