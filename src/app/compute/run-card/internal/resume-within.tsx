/** Resuming a run within other limits, and one on a target also on another target. */
import { useState } from "react";
import { RESUMABLE } from "../../../../protocol/job-state.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import { useTargets } from "../../runs/launches.ts";
import type { Run } from "../../runs/run.ts";
import { resumeLaunched, resumeRun } from "../../runs/run-actions.ts";

/** A positive number; undefined for an empty field, null for anything else. */
function amountOf(text: string): number | undefined | null {
  if (text.trim() === "") return undefined;
  const amount = Number(text);
  return Number.isFinite(amount) && amount > 0 ? amount : null;
}

/** What goes into an object under a key, where there is something. */
const under = <K extends string>(key: K, value: number | undefined | null) =>
  value === undefined || value === null ? {} : { [key]: value };

export function ResumeWithin({ run: { id, where, state, launched } }: { run: Run }) {
  const targets = useTargets((known) => known.targets);
  const [memory, setMemory] = useState("");
  const [cards, setCards] = useState("");
  const [budget, setBudget] = useState("");
  const [target, setTarget] = useState<string | null>(null);
  if (where === "page" || !RESUMABLE.includes(state)) return null;
  const own = launched?.target ?? "";
  const [limit, count, hours] = [amountOf(memory), amountOf(cards), amountOf(budget)];
  const moves = target !== null && target !== own;
  const given = [limit, count, hours];
  const fits =
    !given.includes(null) &&
    (count === undefined || Number.isInteger(count)) &&
    (moves || given.some((each) => each !== undefined));
  const field = (label: string, value: string, set: (text: string) => void) => (
    <label>
      {label}{" "}
      <input
        className="number"
        inputMode="decimal"
        size={6}
        value={value}
        onChange={(event) => set(event.target.value)}
      />
    </label>
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!fits) return;
        if (where === "worker")
          void resumeRun(id, { ...under("memory_limit_gib", limit), ...under("hours", hours) });
        else
          void resumeLaunched(id, {
            ...(moves ? { target } : {}),
            ...under("cards", count),
            ...under("hours", hours),
          });
      }}
    >
      {where === "worker" ? (
        field("Memory limit, GiB", memory, setMemory)
      ) : (
        <>
          <label>
            Target{" "}
            <select value={target ?? own} onChange={(event) => setTarget(event.target.value)}>
              {[...new Set([own, ...Object.keys(targets)])].map((name) => (
                <option key={name} value={name}>
                  {shownName(name)}
                </option>
              ))}
            </select>
          </label>{" "}
          {field("Cards", cards, setCards)}
        </>
      )}{" "}
      {field("Hours in all attempts", budget, setBudget)}{" "}
      <button type="submit" disabled={!fits || (launched !== undefined && launched.doing !== null)}>
        {where === "worker" ? "Resume with these limits" : `Resume on ${shownName(target ?? own)}`}
      </button>
    </form>
  );
}
