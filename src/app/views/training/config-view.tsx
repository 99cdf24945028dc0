/** The config that will run, to the letter, and the command that runs it. */
import { useRuns } from "../../runs/runs-store.ts";
import { type ComposedConfig, workerCommand } from "../../session/training-config.ts";
import { useTrainingForm } from "../../session/training-form.ts";
import { CopyText } from "../runs/copy-text.tsx";

export function ConfigView({ composed }: { composed: ComposedConfig }) {
  const form = useTrainingForm();
  const worker = useRuns((state) => state.worker);
  const there = form.where === "worker";
  const { records, teacher, student } = composed.send;
  const sent = [
    records && "the episodes and their sources",
    teacher && "the teacher",
    student && "the student",
  ]
    .filter((each) => each !== false)
    .join(", ");
  return (
    <details className="config-view" data-testid="config">
      <summary>{there ? "Config and command" : "Config"}</summary>
      <CopyText text={JSON.stringify(composed.written, null, 2)} label="the config" />
      {there ? (
        <>
          <CopyText text={workerCommand(form, worker).join(" ")} label="the command" />
          {sent !== "" && <p className="note">Sent to the worker, into this run’s folder: {sent}.</p>}
        </>
      ) : (
        <p className="note">
          In a terminal, saved beside the files that it names:{" "}
          <code>npx gcopd train --config FILE --out FOLDER</code>
        </p>
      )}
    </details>
  );
}
