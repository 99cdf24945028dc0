/** Resuming a run of the worker within other memory: one that was ended for want of it needs less. */
import { useState } from "react";
import { RESUMABLE, type Run } from "../../runs/run.ts";
import { resumeRun } from "../../session/run-actions.ts";

export function ResumeWithin({ run: { id, where, state } }: { run: Run }) {
  const [text, setText] = useState("");
  if (where !== "worker" || !RESUMABLE.includes(state)) return null;
  const limit = Number(text);
  const fits = text.trim() !== "" && Number.isFinite(limit) && limit > 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void resumeRun(id, limit);
      }}
    >
      <label>
        Memory limit, GiB{" "}
        <input
          className="number"
          inputMode="decimal"
          size={6}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>{" "}
      <button type="submit" disabled={!fits}>
        Resume within it
      </button>
    </form>
  );
}
