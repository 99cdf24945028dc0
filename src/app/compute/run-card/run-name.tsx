/** What a run is called, and the field to call it something else. */
import { type RefObject, useEffect, useRef, useState } from "react";
import { shownName } from "../../base/text/shown-text.ts";
import { useFocusBack } from "../../base/use-focus-back.ts";
import type { Run } from "../runs/run.ts";
import { renameRun, useNaming } from "../runs/run-actions.ts";

/** Characters of a name, as many as the worker takes. */
export const LONGEST_NAME = 200;

export function RunName({ run }: { run: Run }) {
  const naming = useNaming((state) => state.id === run.id);
  const rename = useFocusBack<HTMLButtonElement>(naming);
  return naming ? <NameField run={run} /> : <NameShown run={run} rename={rename} />;
}

function NameShown({ run, rename }: { run: Run; rename: RefObject<HTMLButtonElement | null> }) {
  return (
    <div className="run-name">
      {/* The focus goes here when a run starts. */}
      <h2 id="run-title" tabIndex={-1}>
        <bdi>{shownName(run.title)}</bdi>
      </h2>
      <button ref={rename} type="button" onClick={() => useNaming.setState({ id: run.id })}>
        Rename…
      </button>
    </div>
  );
}

function NameField({ run }: { run: Run }) {
  const [text, setText] = useState(run.title);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const close = (): void => useNaming.setState({ id: null });
  return (
    <form
      className="run-name"
      onSubmit={(event) => {
        event.preventDefault();
        close();
        void renameRun(run.id, text);
      }}
    >
      <h2 id="run-title" className="hidden-visually">
        {shownName(run.title)}
      </h2>
      <label>
        <span className="hidden-visually">Name of the run</span>
        <input
          ref={field}
          value={text}
          maxLength={LONGEST_NAME}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && close()}
        />
      </label>
      <button type="submit" className="primary" disabled={text.trim() === ""}>
        Rename
      </button>
      <button type="button" onClick={close}>
        Keep the name
      </button>
    </form>
  );
}
