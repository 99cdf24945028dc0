/** The ways to open something: the sample, files, a folder. Dropping works everywhere. */
import { useRef } from "react";
import { openDropped, openSample } from "../../session/open.ts";
import { pickedFiles } from "../../shell/dropped-files.ts";
import { useUi } from "../../state/store.ts";

export function OpenButtons({ primary = false }: { primary?: boolean }) {
  const busy = useUi((ui) => ui.opening !== null);
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement): void => {
    const picked = pickedFiles(input.files ?? []);
    input.value = "";
    if (picked.length > 0) void openDropped(picked);
  };
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
        accept=".jsonl,.ndjson,.json,.gz,.parquet,.zip"
        data-testid="pick-files"
        onChange={(event) => take(event.target)}
      />
      <button type="button" disabled={busy} onClick={() => folder.current?.click()}>
        Open a folder…
      </button>
      <input
        ref={(input) => {
          folder.current = input;
          if (input !== null) input.webkitdirectory = true;
        }}
        type="file"
        hidden
        aria-label="A folder of recordings, or a model"
        data-testid="pick-folder"
        onChange={(event) => take(event.target)}
      />
    </div>
  );
}
