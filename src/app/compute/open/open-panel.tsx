/** The ways to open something: the sample, files, a folder, addresses, the worker's disk. Dropping works everywhere. */
import { useState } from "react";
import { Menu } from "../../base/menu.tsx";
import { PickButton } from "../../base/pick-button.tsx";
import { useFocusAsBefore } from "../../base/use-focus-back.ts";
import { hasWorker } from "../../data/shared-folder.ts";
import { setUi, useUi } from "../store.ts";
import { openAddresses, openDropped, openSample } from "./open.ts";

/** One menu of them, beside what is open. */
export function OpenMenu() {
  return (
    <Menu label="Open…">
      <OpenButtons />
    </Menu>
  );
}

export function OpenButtons({ primary = false }: { primary?: boolean }) {
  const busy = useUi((ui) => ui.opening !== null);
  useFocusAsBefore(busy);
  const [asking, setAsking] = useState(false);
  const [address, setAddress] = useState("");
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
      <PickButton
        label="Sources and episodes"
        testId="pick-files"
        accept=".jsonl,.ndjson,.json,.gz,.parquet,.zip"
        disabled={busy}
        onPick={openDropped}
      >
        Open files…
      </PickButton>
      <PickButton
        folder
        label="A folder of recordings, or a model"
        testId="pick-folder"
        disabled={busy}
        onPick={openDropped}
      >
        Open a folder…
      </PickButton>
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
