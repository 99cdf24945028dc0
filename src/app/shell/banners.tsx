/** What the user must know before reading on: faults of the link, a question about a model, the missing GPU. */
import { useRef } from "react";
import { shownName, shownText } from "../base/text/shown-text.ts";
import { useFocusAsBefore } from "../base/use-focus-back.ts";
import { models } from "../compute/models/models.ts";
import { ROLES, type Role, setUi, useUi } from "../compute/store.ts";
import { goHome } from "../data/navigate.ts";
import { openWithTokenizerFiles, openWithTokenizerOf } from "./pending-tokenizer.ts";

export function Banners() {
  const problems = useUi((ui) => ui.placeProblems);
  return (
    <div className="banners">
      {problems.length > 0 && (
        <div className="banner warn" role="alert">
          <p>{shownText(problems.join(" "))} The rest of the link was used.</p>
          <button type="button" onClick={goHome}>
            Go to the library
          </button>
        </div>
      )}
      <PendingFolder />
      <PendingTokenizer />
      <WithoutGpu />
    </div>
  );
}

function PendingFolder() {
  const folder = useUi((ui) => ui.pendingFolder);
  useFocusAsBefore(folder !== null);
  if (folder === null) return null;
  const use = (role: Role): void => {
    setUi({ pendingFolder: null });
    void models.open(role, folder);
  };
  return (
    <div className="banner info" role="status">
      <p>{shownName(folder.name)} is a model. What is it to be?</p>
      <button type="button" onClick={() => use("teacher")}>
        The teacher
      </button>
      <button type="button" onClick={() => use("student")}>
        The student
      </button>
      <button type="button" onClick={() => setUi({ pendingFolder: null })}>
        Neither
      </button>
    </div>
  );
}

/** A model folder without a tokenizer is not opened with another one's unless the user says so. */
function PendingTokenizer() {
  const pending = useUi((ui) => ui.pendingTokenizer);
  const opened = useUi((ui) => ui.models);
  const input = useRef<HTMLInputElement>(null);
  useFocusAsBefore(pending !== null);
  if (pending === null) return null;
  const { folder } = pending;
  const close = (): void => setUi({ pendingTokenizer: null });
  const named = (role: Role): string =>
    `the ${role}’s (${models.origins()[role] === "sample" ? "the sample’s" : shownName(opened[role]?.info.model ?? models.opened(role)?.folder.name ?? role)})`;
  return (
    <div className="banner error" role="alert" data-testid="no-tokenizer">
      <p>
        {shownName(folder.name)} has no <code>tokenizer.json</code>, which says what its token ids mean. Put
        the model’s own file into the folder, or choose a tokenizer:
      </p>
      <button type="button" onClick={() => input.current?.click()}>
        Its files…
      </button>
      {ROLES.map((role) => (
        <button key={role} type="button" onClick={() => void openWithTokenizerOf(role)}>
          Take {named(role)}
        </button>
      ))}
      <button type="button" onClick={close}>
        Don’t open it
      </button>
      <input
        ref={input}
        type="file"
        multiple
        accept=".json,.jinja"
        hidden
        aria-label={`Tokenizer files of ${shownName(folder.name)}`}
        data-testid="pick-tokenizer"
        onChange={(event) => void openWithTokenizerFiles([...(event.target.files ?? [])])}
      />
    </div>
  );
}

function WithoutGpu() {
  const device = useUi((ui) => ui.device);
  if (device.reason === null) return null;
  return (
    <div className="banner warn" role="status" data-testid="no-webgpu">
      <details>
        <summary>
          <strong>No WebGPU here:</strong> models run on the CPU reference, many times slower. How to turn it
          on
        </summary>
        <p>{device.reason} The numbers are the same on the CPU.</p>
        <ul>
          <li>
            <strong>Chrome, Edge, Brave:</strong> turn on “Use graphics acceleration when available” in the
            settings under System. On Linux also open <code>chrome://flags/#enable-unsafe-webgpu</code>,
            enable it and start the browser again. <code>chrome://gpu</code> says what is missing.
          </li>
          <li>
            <strong>Safari:</strong> version 26 has it. Before, it is under Develop › Feature Flags › WebGPU.
          </li>
          <li>
            <strong>Firefox:</strong> on Windows and on Macs with Apple silicon it is on; elsewhere set{" "}
            <code>dom.webgpu.enabled</code> in <code>about:config</code>.
          </li>
          <li>The page must come from https or from 127.0.0.1: browsers hide WebGPU from other addresses.</li>
        </ul>
      </details>
    </div>
  );
}
