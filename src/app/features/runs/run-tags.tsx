/** The tags of a run, with a field for one more. */
import { useState } from "react";
import { shownName } from "../../base/text/shown-text.ts";
import { useFocusBack } from "../../base/use-focus-back.ts";
import type { Run } from "../../compute/runs/run.ts";
import { addTag, LONGEST_TAG, removeTag, useTags } from "../../compute/runs/run-tags.ts";

const NONE: readonly string[] = [];

export function RunTags({ run: { id, title } }: { run: Pick<Run, "id" | "title"> }) {
  const tags = useTags((state) => state.tags[id] ?? NONE);
  const [adding, setAdding] = useState(false);
  const add = useFocusBack<HTMLButtonElement>(adding);
  return (
    <span className="run-tags">
      {tags.map((tag) => (
        <span key={tag} className="run-tag">
          <bdi>{shownName(tag)}</bdi>
          <button
            type="button"
            className="plain"
            onClick={() => {
              removeTag(id, tag);
              add.current?.focus();
            }}
            aria-label={`Remove the tag ${shownName(tag)}: ${shownName(title)}, ${id}`}
          >
            ×
          </button>
        </span>
      ))}
      {adding ? (
        <TagField run={id} onEnd={() => setAdding(false)} />
      ) : (
        <button
          ref={add}
          type="button"
          className="plain link add-tag"
          onClick={() => setAdding(true)}
          aria-label={`Add a tag: ${shownName(title)}, ${id}`}
        >
          + tag
        </button>
      )}
    </span>
  );
}

function TagField({ run, onEnd }: { run: string; onEnd: () => void }) {
  const [text, setText] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        addTag(run, text);
        onEnd();
      }}
    >
      <input
        ref={(field) => field?.focus()}
        aria-label="New tag"
        size={10}
        maxLength={LONGEST_TAG}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => event.key === "Escape" && onEnd()}
        onBlur={() => {
          addTag(run, text);
          onEnd();
        }}
      />
    </form>
  );
}
