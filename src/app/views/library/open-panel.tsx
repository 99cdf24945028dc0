/** The ways to open something: the sample, files, a folder, addresses, the worker's disk. Dropping works everywhere. */
import { useRef, useState } from "react";
import { openAddresses, openDropped, openSample } from "../../session/open.ts";
import { hasWorker } from "../../session/shared-folder.ts";
import { pickedFiles } from "../../shell/dropped-files.ts";
import { setUi, useUi } from "../../state/store.ts";

export function OpenButtons({ primary = false }: { primary?: boolean }) {
  const busy = useUi((ui) => ui.opening !== null);
  const [asking, setAsking] = useState(false);
  const [address, setAddress] = useState("");
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
      <button type="button" disabled={busy} aria-expanded={asking} onClick={() => setAsking(!asking)}>
        Open an address…
      </button>
      {hasWorker() && (
        <button type="button" disabled={busy} onClick={() => setUi({ sharedOpen: true })}>
          Open from the worker…
        </button>
      )}
      {asking && (
        <form
          className="address-form"
          onSubmit={(event) => {
            event.preventDefault();
            void openAddresses(address);
          }}
        >
          <label>
            <span className="caption">
              Addresses of sources and episodes, parted by a space. With range requests one task is read at a
              time; <code>.index.jsonl</code> beside a file spares the first pass.
            </span>
            <input
              type="text"
              inputMode="url"
              value={address}
              placeholder="https://…/sources.jsonl https://…/episodes.jsonl"
              data-testid="address"
              onChange={(event) => setAddress(event.target.value)}
            />
          </label>
          <button type="submit" className="primary" disabled={busy || address.trim() === ""}>
            Open
          </button>
        </form>
      )}
    </div>
  );
}
