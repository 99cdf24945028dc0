/** The ways to open something: the sample, files, a folder. Dropping works everywhere. */
import { useRef } from "react";
import { openDropped, openSample } from "../../session/open.ts";
import { pickedFiles } from "../../shell/dropped-files.ts";
import { useUi } from "../../state/store.ts";

export function OpenButtons({ primary = false }: { primary?: boolean }) {
  const busy = useUi((ui) => ui.opening !== null);
  const files = useRef<HTMLInputElement>(null);
  return (
    <div className="open-buttons">
      <button
        type="button"
        className={primary ? "primary" : ""}
        disabled={busy}
        onClick={() => void openSample()}
      >
        Open the sample
      </button>
      <button type="button" disabled={busy} onClick={() => files.current?.click()}>
        Open files…
      </button>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label="Sources and episodes"
        accept=".jsonl,.ndjson,.gz,.zip"
        data-testid="pick-files"
        onChange={(event) => {
          const picked = pickedFiles(event.target.files ?? []);
          event.target.value = "";
          if (picked.length > 0) void openDropped(picked);
        }}
      />
    </div>
  );
}
