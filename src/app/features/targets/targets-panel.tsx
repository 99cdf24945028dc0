/** The places where the worker launches runs: what is known of each, a form for it, and what a check of it found. */
import { type FormEvent, type ReactNode, useState } from "react";
import { type CheckStep, KEYS_WITH, SCHEDULERS } from "../../../protocol/target.ts";
import { describeFault } from "../../base/faults.ts";
import { Labelled } from "../../base/labelled.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { checkTarget, importLaunched, saveTarget, useTargets } from "../../compute/runs/launches.ts";
import { SCHEDULER_NAMES } from "../../compute/runs/target-words.ts";
import type { Target } from "../../compute/runs/worker-answers.ts";
import { setUi } from "../../compute/store.ts";
import { setTrainingForm } from "../../compute/training/training-form.ts";
import { navigate } from "../../data/navigate.ts";

export function TargetsPanel() {
  const { file, targets, problem, checks } = useTargets();
  const [edited, setEdited] = useState<string | null>(null);
  if (file === null && problem === null) return null;
  const all = Object.entries(targets);
  return (
    <section className="panel targets" aria-labelledby="targets-title" data-testid="targets">
      <div className="panel-head">
        <h2 id="targets-title">Targets</h2>
        <span className="note">
          Machines where your runs continue without this one. ssh uses your own keys; no secrets are stored.
        </span>
        {edited === null && (
          <button type="button" onClick={() => setEdited("")}>
            Add a target…
          </button>
        )}
      </div>
      {problem !== null && (
        <p className="run-line error" role="alert">
          {problem}
        </p>
      )}
      {edited !== null && (
        <TargetForm key={edited} name={edited} target={targets[edited]} close={() => setEdited(null)} />
      )}
      {all.length === 0 && edited === null && <p className="note hint">No targets yet.</p>}
      <ul>
        {all.map(([name, target]) => (
          <li key={name} data-target={name}>
            <p>
              <strong>
                <bdi>{shownName(name)}</bdi>
              </strong>{" "}
              <span className="note">{shownName(factsOf(target), 1000)}</span>
            </p>
            <span className="run-buttons">
              <button
                type="button"
                disabled={checks[name] === null}
                onClick={() => void checkTarget(name)}
                aria-label={`Check: ${shownName(name)}`}
              >
                {checks[name] === null ? "Checking…" : "Check"}
              </button>
              <button
                type="button"
                onClick={() => {
                  setTrainingForm({ where: "target", target: name });
                  navigate({ view: "training" }, "push");
                }}
                aria-label={`Set up a run on ${shownName(name)}`}
              >
                Set up a run…
              </button>
              <button type="button" onClick={() => setEdited(name)} aria-label={`Edit: ${shownName(name)}`}>
                Edit…
              </button>
            </span>
            <div role="status">{checks[name] != null && <Steps steps={checks[name]} />}</div>
          </li>
        ))}
      </ul>
      {all.length > 0 && <Import names={all.map(([name]) => name)} />}
      {file !== null && <p className="note">Stored in {shownName(file, 1000)}, which you can also edit.</p>}
    </section>
  );
}

/** "login, Slurm gpu, 2 GPUs, 12:00:00, /scratch/me, 3.5 per GPU-hour". */
function factsOf(target: Target): string {
  const { host, user, port, scheduler, partition, account, gpus, time, scratch, modules, image } = target;
  const place = host === undefined ? "this machine" : `${user === undefined ? "" : `${user}@`}${host}`;
  return [
    scheduler !== "kubernetes" && (port === undefined ? place : `${place}:${port}`),
    scheduler === "slurm" && ["Slurm", target.slurmrestd, partition, account].filter(Boolean).join(" "),
    scheduler === "ray" && ["Ray", target.ray_address].filter(Boolean).join(" "),
    scheduler === "kubernetes" &&
      ["Kubernetes", target.kube_context, target.namespace, target.claim].filter(Boolean).join(" "),
    gpus !== undefined && `${gpus} GPU${gpus === 1 ? "" : "s"}`,
    time,
    scratch,
    modules.length > 0 && `modules ${modules.join(" ")}`,
    image,
    ...Object.entries(target.models).map(([name, path]) => `target:${name} = ${path}`),
    target.price_per_gpu_hour !== undefined && `${target.price_per_gpu_hour} per GPU-hour`,
  ]
    .filter(Boolean)
    .join(" · ");
}

const VERDICTS: Record<CheckStep["verdict"], string> = {
  ok: "✓ passed",
  note: "! note",
  missing: "✕ missing",
};

function Steps({ steps }: { steps: readonly CheckStep[] }) {
  const missing = steps.filter(({ verdict }) => verdict === "missing").length;
  return (
    <table className="check-steps" data-testid="check-steps">
      <caption className="note">
        {missing === 0
          ? "A run can be launched."
          : `${missing} of ${steps.length} steps cannot be passed yet.`}
      </caption>
      <tbody>
        {steps.map(({ step, verdict, text }) => (
          <tr key={step} data-verdict={verdict}>
            <th scope="row">{shownName(step)}</th>
            <td className="verdict">{VERDICTS[verdict]}</td>
            <td>{shownName(text, 1000)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Fields of the form: the key of the target, its caption, and an example or what holds when it is empty. */
const FIELDS: readonly [key: string, label: string, hint: string][] = [
  ["host", "Host", "empty: this machine"],
  ["user", "User", "as ssh takes it"],
  ["port", "Port", "22"],
  ["scratch", "Scratch folder", "/scratch/me"],
  ["slurmrestd", "slurmrestd", "empty: sbatch"],
  ["partition", "Partition", ""],
  ["account", "Account", ""],
  ["gpus", "GPUs per run", ""],
  ["time", "Time limit", "12:00:00"],
  ["ray_address", "Ray’s dashboard", "http://127.0.0.1:8265"],
  ["kube_context", "kubectl’s context", "empty: its current one"],
  ["namespace", "Namespace", "empty: the context’s"],
  ["claim", "Volume claim of the scratch folder", ""],
  ["gpu_resource", "Name of a GPU", "nvidia.com/gpu"],
  ["modules", "Modules", "node cuda"],
  ["image", "Image", "/images/gcopd.sif, or a container image"],
  ["gcopd", "gcopd command", "gcopd"],
  ["models", "Models (NAME=/PATH)", "qwen3-8b=/models/Qwen3-8B"],
  ["price_per_gpu_hour", "Price per GPU-hour", ""],
];
const NUMBERS = ["port", "gpus", "price_per_gpu_hour"];

/** Whether a field counts: those of a scheduler only with it, those of a host only with one. Others are not shown. */
function isShown(key: string, { scheduler, host = "" }: Readonly<Record<string, string>>): boolean {
  const owner = SCHEDULERS.find((each) => KEYS_WITH[each].some((own) => own === key));
  if (owner !== undefined) return scheduler === owner;
  if (key === "host") return scheduler !== "kubernetes";
  return !["user", "port"].includes(key) || (scheduler !== "kubernetes" && host.trim() !== "");
}

/** The fields' texts of a target. */
function textsOf(target: Target | undefined): Record<string, string> {
  if (target === undefined) return {};
  const { modules, models, ...rest } = target;
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, String(value)])),
    modules: modules.join(" "),
    models: Object.entries(models)
      .map(([name, path]) => `${name}=${path}`)
      .join(" "),
  };
}

/** What the texts stand for. A text that is no number stays one, and the worker says what it expected. */
function targetOf(
  texts: Readonly<Record<string, string>>,
  before: Target | undefined,
): Record<string, unknown> {
  const words = (text: string) => text.trim().split(/\s+/);
  const value = (key: string, text: string): unknown => {
    if (key === "modules") return words(text);
    if (key === "models")
      return Object.fromEntries(
        words(text).map((each) => [each.split("=", 1)[0], each.slice(each.indexOf("=") + 1)]),
      );
    return NUMBERS.includes(key) && Number.isFinite(Number(text)) ? Number(text) : text.trim();
  };
  const own = FIELDS.map(([key]) => key).filter(
    (key) => (texts[key] ?? "").trim() !== "" && isShown(key, texts),
  );
  // Keys that the form has no field for stay as they are.
  const named = [...FIELDS.map(([key]) => key), "scheduler"];
  const other = Object.entries(before ?? {}).filter(([key]) => !named.includes(key));
  return {
    ...Object.fromEntries(other),
    scheduler: texts.scheduler ?? "none",
    ...Object.fromEntries(own.map((key) => [key, value(key, texts[key] ?? "")])),
  };
}

/** The same function each time, so that it is called only when the field comes. */
const focus = (input: HTMLInputElement | null): void => input?.focus();

function TargetForm({
  name,
  target,
  close,
}: {
  name: string;
  target: Target | undefined;
  close: () => void;
}) {
  const isNew = target === undefined;
  const [called, setCalled] = useState(name);
  const [texts, setTexts] = useState(() => textsOf(target));
  const [problem, setProblem] = useState<string | null>(null);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await saveTarget(called.trim(), targetOf(texts, target), !isNew);
      close();
    } catch (error) {
      setProblem(describeFault(error));
    }
  };
  const field = ([key, label, hint]: (typeof FIELDS)[number]): ReactNode => (
    <Labelled key={key} label={label}>
      <input
        value={texts[key] ?? ""}
        placeholder={hint}
        required={key === "scratch"}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setTexts({ ...texts, [key]: event.target.value })}
      />
    </Labelled>
  );
  return (
    <form
      className="target-form form-row"
      aria-label={isNew ? "Add a target" : `Edit ${shownName(name)}`}
      onSubmit={(event) => void save(event)}
    >
      <Labelled label="Name">
        <input
          value={called}
          required
          readOnly={!isNew}
          // The form was just asked for.
          ref={isNew ? focus : undefined}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setCalled(event.target.value)}
        />
      </Labelled>
      <Labelled label="Scheduler">
        <select
          value={texts.scheduler ?? "none"}
          onChange={(event) => setTexts({ ...texts, scheduler: event.target.value })}
        >
          {Object.entries(SCHEDULER_NAMES).map(([scheduler, name]) => (
            <option key={scheduler} value={scheduler}>
              {name}
            </option>
          ))}
        </select>
      </Labelled>
      {FIELDS.filter(([key]) => isShown(key, texts)).map(field)}
      <span className="run-buttons">
        <button type="submit" className="primary">
          {isNew ? "Add" : "Save"}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </span>
      {problem !== null && (
        <p className="fault" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

function Import({ names }: { names: readonly string[] }) {
  const [target, setTarget] = useState(names[0] ?? "");
  const [folder, setFolder] = useState("");
  const [said, setSaid] = useState<string | null>(null);
  const take = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setSaid("Asking the target…");
    try {
      const id = await importLaunched(target, folder.trim());
      setSaid(null);
      setFolder("");
      setUi({ notice: { kind: "info", text: `${id} is among the runs now.` } });
    } catch (error) {
      setSaid(describeFault(error));
    }
  };
  return (
    <details>
      <summary>Take over a run that another machine launched</summary>
      <form className="target-form form-row" onSubmit={(event) => void take(event)}>
        <Labelled label="Target">
          <select value={target} onChange={(event) => setTarget(event.target.value)}>
            {names.map((name) => (
              <option key={name} value={name}>
                {shownName(name)}
              </option>
            ))}
          </select>
        </Labelled>
        <Labelled label="Run folder on the target">
          <input
            value={folder}
            required
            placeholder="/scratch/me/gcopd-runs/…"
            onChange={(event) => setFolder(event.target.value)}
          />
        </Labelled>
        <button type="submit">Take over</button>
        <p className="note" role="status">
          {said ?? "Resume runs the command that lies there: take over only what you trust."}
        </p>
      </form>
    </details>
  );
}
