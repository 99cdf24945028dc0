/**
 * A model by its name at the hub: who will be contacted and how much will be stored, before either happens; the download;
 * and what is kept in this browser. A native dialog, so that focus and Escape behave. A download goes on when it is closed.
 */

import { countOf } from "../../core/plural.ts";
import type { CachedModel } from "../../engine/hub/index.ts";
import { formatRange } from "../base/eta.ts";
import { useDialog } from "../base/use-dialog.ts";
import { isModelAtWork } from "../compute/computing.ts";
import {
  cachedName,
  closeHub,
  download,
  gigabytes,
  goOn,
  lackOfRoom,
  lookUp,
  openCached,
  remove,
  roleOf,
  stopDownload,
  stopLookUp,
  typeHub,
  useHub,
} from "../compute/hub/hub.ts";
import { type Role, useUi } from "../compute/store.ts";

export function HubDialog() {
  const role = useHub((hub) => hub.role);
  const problem = useHub((hub) => hub.problem);
  const dialog = useDialog(role !== null);
  return (
    <dialog ref={dialog} className="help hub" aria-labelledby="hub-title" onClose={closeHub}>
      <header>
        <h2 id="hub-title">The {role ?? "model"} by name</h2>
        <button type="button" onClick={closeHub}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      {role !== null && (
        <div className="hub-body">
          <LookUp />
          {problem !== null && (
            <p className="fault" role="alert" data-testid="hub-problem">
              {problem}
            </p>
          )}
          <Found role={role} />
          <Download />
          <Kept role={role} />
        </div>
      )}
    </dialog>
  );
}

/** The host of an address as it is typed, or the address itself while it is none. */
function hostOf(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}

function LookUp() {
  const { name, endpoint, looking, download: busy } = useHub();
  return (
    <form
      className="hub-form"
      onSubmit={(event) => {
        event.preventDefault();
        void lookUp();
      }}
    >
      <label>
        <span className="caption">Model</span>
        <input
          type="text"
          value={name}
          spellCheck={false}
          autoComplete="off"
          placeholder="OWNER/NAME, as Qwen/Qwen3-0.6B"
          onChange={(event) => typeHub({ name: event.target.value })}
        />
      </label>
      <label>
        <span className="caption">Hub</span>
        <input
          type="text"
          inputMode="url"
          value={endpoint}
          spellCheck={false}
          onChange={(event) => typeHub({ endpoint: event.target.value })}
        />
      </label>
      <span className="hub-asking">
        <button type="submit" className="primary" disabled={looking || busy !== null || name.trim() === ""}>
          {looking ? "Asking…" : "Look up"}
        </button>
        {looking && (
          <button type="button" onClick={stopLookUp}>
            Stop
          </button>
        )}
      </span>
      <p className="note">
        <em>Look up</em> asks <strong>{hostOf(endpoint)}</strong> for the names and sizes of the model’s
        files. Nobody is contacted before, and nothing is stored by it. <code>OWNER/NAME@REVISION</code> takes
        a branch, a tag or a commit.
      </p>
    </form>
  );
}

function Found({ role }: { role: Role }) {
  const { listing, room, download: busy } = useHub();
  const working = useUi(isModelAtWork);
  if (listing === null || busy !== null) return null;
  const { name, commit, files, bytes, have, endpoint } = listing;
  const left = bytes - have;
  const lack = lackOfRoom(left, room);
  return (
    <section className="hub-found" aria-label="What the hub has" data-testid="hub-found">
      <p>
        <strong>{name.repository}</strong>, commit <code>{commit.slice(0, 12)}</code>:{" "}
        {countOf(files.length, "file")}, {gigabytes(bytes)}
        {have > 0 && `, ${gigabytes(have)} of it already here`}. <strong>{gigabytes(left)}</strong> will be
        stored in this browser
        {room !== null && ` (room for ${gigabytes(Math.max(0, room.quota - room.usage))})`}. Files come from{" "}
        {hostOf(endpoint)} and the hosts that it sends their downloads on to.
      </p>
      <details>
        <summary>Files</summary>
        <ul>
          {files.map((file) => (
            <li key={file.name}>
              <code>{file.name}</code> {gigabytes(file.size)}
              {file.sha256 === null ? ", checked by its size" : ", checked by size and SHA-256"}
            </li>
          ))}
        </ul>
      </details>
      {lack === null ? (
        <button type="button" className="primary" disabled={working} onClick={() => void download()}>
          Download {gigabytes(left)} and open as {role}
        </button>
      ) : (
        <p className="fault" role="alert">
          {name.repository}: {lack}.
        </p>
      )}
    </section>
  );
}

function Download() {
  const now = useHub((hub) => hub.download);
  if (now === null) return null;
  const { label, file, what, done, total, eta, stopping } = now;
  return (
    <div className="hub-download" role="status" data-testid="hub-download">
      <span>
        {label}: {what} {file} · {gigabytes(done)} of {gigabytes(total)}
        {eta !== null && what === "downloading" && ` · ${formatRange(eta)} left`}
      </span>
      <progress max={total || 1} value={done} aria-label={`Download of ${label}`} />
      <button type="button" disabled={stopping} onClick={stopDownload}>
        {stopping ? "Stopping…" : "Stop"}
      </button>
    </div>
  );
}

function Kept({ role }: { role: Role }) {
  const { models, reading, persistent, room } = useHub();
  if (models === null) return reading ? <p className="note">Reading what is kept in this browser…</p> : null;
  if (models.length === 0) return <p className="note">No model is kept in this browser yet.</p>;
  const total = models.reduce((sum, { have }) => sum + have, 0);
  return (
    <section aria-labelledby="hub-kept">
      <h3 id="hub-kept">Kept in this browser</h3>
      <table className="hub-kept" data-testid="hub-kept">
        <thead>
          <tr>
            <th scope="col">model</th>
            <th scope="col">commit</th>
            <th scope="col" className="number">
              size
            </th>
            <th scope="col" aria-label="what can be done" />
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <KeptRow key={`${model.repository} ${model.commit}`} model={model} role={role} />
          ))}
        </tbody>
      </table>
      <p className="note">
        {gigabytes(total)} in all
        {room !== null && `, room for ${gigabytes(Math.max(0, room.quota - room.usage))} more`}. They open
        without network.
        {persistent === false &&
          " The browser did not promise to keep them: it may remove them when the disk runs low."}
      </p>
    </section>
  );
}

function KeptRow({ model, role }: { model: CachedModel; role: Role }) {
  const busy = useHub((hub) => hub.download !== null);
  const working = useUi(isModelAtWork);
  const { bytes, have, whole, commit, files } = model;
  const name = cachedName(model);
  const has = roleOf(model);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <code>{commit.slice(0, 12)}</code>
      </td>
      <td className="number">{whole ? gigabytes(bytes) : `${gigabytes(have)} of ${gigabytes(bytes)}`}</td>
      <td className="hub-actions">
        {whole ? (
          has === role ? (
            <span className="note">is the {role}</span>
          ) : (
            <button
              type="button"
              className="inline"
              disabled={busy || working}
              onClick={() => void openCached(model, role)}
              aria-label={`Open ${name} as ${role}`}
            >
              Open
            </button>
          )
        ) : (
          <button
            type="button"
            className="inline"
            disabled={busy || working || files.length === 0}
            onClick={() => void goOn(model)}
            aria-label={`Go on with the download of ${name}`}
          >
            Go on
          </button>
        )}
        <button
          type="button"
          className="inline"
          disabled={busy}
          onClick={() => void remove(model)}
          aria-label={`Remove ${name}`}
        >
          Remove
        </button>
      </td>
    </tr>
  );
}
