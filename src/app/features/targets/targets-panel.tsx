/** The places where the worker launches runs: what is known of each, a form for it, and what a check of it found. */
import { type FormEvent, type ReactNode, useState } from "react";
import {
  type CheckStep,
  missingFor,
  SCHEDULER_NAMES,
  SCHEDULERS,
  type Scheduler,
  TARGET_KEYS,
  type TargetKey,
} from "../../../protocol/target.ts";
import { describeFault } from "../../base/faults.ts";
import { Labelled } from "../../base/labelled.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { isFocusFree } from "../../base/use-focus-back.ts";
import { launches, type TargetCheck, useTargets } from "../../compute/runs/launches.ts";
import type { Target } from "../../compute/runs/worker-answers.ts";
import { setUi } from "../../compute/store.ts";
import { setTrainingForm } from "../../compute/training/training-form.ts";
import { navigate } from "../../data/navigate.ts";

export function TargetsPanel() {
  const { file, targets, problem, checks } = useTargets();
  const [edited, setEdited] = useState<string | null>(null);
  const [wasEdited, setWasEdited] = useState(false);
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
          // The form that went took the focus with it.
          <button
            type="button"
            ref={wasEdited ? focusUnlessElsewhere : undefined}
            onClick={() => setEdited("")}
          >
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
        <TargetForm
          key={edited}
          name={edited}
          target={targets[edited]}
          close={() => {
            setEdited(null);
            setWasEdited(true);
          }}
        />
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
                disabled={checks[name]?.isGoing}
                onClick={() => void launches.checkTarget(name)}
                aria-label={`Check: ${shownName(name)}`}
              >
                {checks[name]?.isGoing ? "Checking…" : "Check"}
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
            <div role="status">{checks[name] !== undefined && <Checked {...checks[name]} />}</div>
          </li>
        ))}
      </ul>
      {all.length > 0 && <Import names={all.map(([name]) => name)} />}
      {file !== null && <p className="note">Stored in {shownName(file, 1000)}, which you can also edit.</p>}
    </section>
  );
}

/** "login · Slurm gpu 12:00:00 · 2 GPUs · /scratch/me · 3.5 per GPU-hour". */
function factsOf(target: Target): string {
  const { host, user, port, scheduler, gpus, scratch, modules, image } = target;
  const { label, onHost } = SCHEDULERS[scheduler];
  const place = host === undefined ? "this machine" : `${user === undefined ? "" : `${user}@`}${host}`;
  const values: Readonly<Record<string, unknown>> = target;
  const own = FIELDS.filter((each) => each.with?.includes(scheduler)).map(({ key }) => values[key]);
  return [
    onHost && (port === undefined ? place : `${place}:${port}`),
    scheduler !== "none" && [label, ...own].filter(Boolean).join(" "),
    gpus !== undefined && `${gpus} GPU${gpus === 1 ? "" : "s"}`,
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

/** What is known from checks of a target; nothing while it is being checked. */
function Checked({ steps, isGoing, problem }: TargetCheck) {
  if (isGoing) return null;
  return (
    <>
      {problem !== null && (
        <p className="fault">
          {steps === null ? "Not checked" : "Not checked again"}: {problem}
        </p>
      )}
      {steps !== null && <Steps steps={steps} />}
    </>
  );
}

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

/** Keys that have a field in the form. */
const FIELDS = TARGET_KEYS.flatMap(({ field, ...each }) => (field === undefined ? [] : [{ ...each, field }]));

type Texts = Readonly<Partial<Record<string, string>>>;

/** Whether a field counts with the others. What does not is not shown. */
function isShown(each: TargetKey, texts: Texts): boolean {
  const scheduler = (texts.scheduler ?? "none") as Scheduler;
  const host = texts.host?.trim() || undefined;
  const isOfHost = each.key === "host" || each.with === "host";
  return missingFor(each, { host, scheduler }) === null && (!isOfHost || SCHEDULERS[scheduler].onHost);
}

/** The fields' texts of a target. */
function textsOf(target: Target | undefined): Texts {
  if (target === undefined) return {};
  const text = (value: unknown): string => {
    if (Array.isArray(value)) return value.join(" ");
    if (typeof value !== "object" || value === null) return String(value);
    return Object.entries(value)
      .map(([name, of]) => `${name}=${of}`)
      .join(" ");
  };
  return Object.fromEntries(Object.entries(target).map(([key, value]) => [key, text(value)]));
}

/** The value of a text. One that is no number stays a text, and the worker says what it expected. */
function givenBy(as: TargetKey["as"], text: string): unknown {
  const words = text.split(/\s+/);
  if (as === "words") return words;
  if (as === "pairs")
    return Object.fromEntries(
      words.map((each) => [each.split("=", 1)[0], each.slice(each.indexOf("=") + 1)]),
    );
  return as === "number" && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Keys that the form has no field for stay as they are. */
function targetOf(texts: Texts, before: Target | undefined): Record<string, unknown> {
  const named: string[] = FIELDS.map(({ key }) => key);
  const given = FIELDS.filter((each) => isShown(each, texts)).flatMap(({ key, as }) => {
    const text = texts[key]?.trim() ?? "";
    return text === "" ? [] : [[key, givenBy(as, text)]];
  });
  return {
    ...Object.fromEntries(Object.entries(before ?? {}).filter(([key]) => !named.includes(key))),
    scheduler: texts.scheduler ?? "none",
    ...Object.fromEntries(given),
  };
}

/** The same function each time, so that it is called only when the element comes. */
const focus = (element: HTMLElement | null): void => element?.focus();

/** Whoever went on while the form was being saved keeps the focus there. */
const focusUnlessElsewhere = (element: HTMLElement | null): void => {
  if (isFocusFree()) focus(element);
};

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
      await launches.saveTarget(called.trim(), targetOf(texts, target), !isNew);
      close();
    } catch (error) {
      setProblem(describeFault(error));
    }
  };
  const field = ({ key, field: [label, hint] }: (typeof FIELDS)[number]): ReactNode => (
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
          {SCHEDULER_NAMES.map((scheduler) => (
            <option key={scheduler} value={scheduler}>
              {SCHEDULERS[scheduler].label}
            </option>
          ))}
        </select>
      </Labelled>
      {FIELDS.filter((each) => isShown(each, texts)).map(field)}
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
      const id = await launches.importRun(target, folder.trim());
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
