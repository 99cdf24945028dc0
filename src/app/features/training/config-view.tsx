/** The config that will run, to the letter, and the command that runs it. */

import { againCommand, shellLine, shellScript } from "../../base/shell-command.ts";
import { CopyText } from "../../compute/run-card/copy-text.tsx";
import { namesHubModel, TOKEN_COMMENT, TOKEN_SENTENCE } from "../../compute/runs/hub-models.ts";
import { useRuns } from "../../compute/runs/runs-store.ts";
import { type ComposedConfig, workerCommand } from "../../compute/training/training-config.ts";
import { useTrainingForm } from "../../compute/training/training-form.ts";

export function ConfigView({ composed }: { composed: ComposedConfig }) {
  const form = useTrainingForm();
  const worker = useRuns((state) => state.worker);
  const onWorker = form.where === "worker";
  const { records, teacher, student } = composed.send;
  const sent = [
    records && "the episodes and their sources",
    teacher && "the teacher",
    student && "the student",
  ]
    .filter((each) => each !== false)
    .join(", ");
  const config = JSON.stringify(composed.written, null, 2);
  const command = workerCommand(form, worker);
  const own = `${form.nextId}.json`;
  const hub = namesHubModel(composed.written);
  return (
    <details className="config-view" data-testid="config">
      <summary>{onWorker ? "Config and command" : "Config"}</summary>
      <CopyText text={config} label="the config" />
      {onWorker && (
        <>
          <CopyText
            text={shellLine(command)}
            label="the command"
            also={
              worker.files === null
                ? []
                : [
                    {
                      label: "a script for a shell",
                      text: shellScript(
                        own,
                        config,
                        againCommand(
                          command.map((word, n) => (command[n - 1] === "--config" ? own : word)),
                          worker.files,
                          form.nextId,
                        ),
                        hub ? [TOKEN_COMMENT] : [],
                      ),
                    },
                  ]
            }
          />
          <p className="note">
            The worker writes the config there when the run starts, and runs this. The script takes the same
            run in a shell of its machine: it writes the config and trains into a folder of its own.
            {hub && ` ${TOKEN_SENTENCE}`}
          </p>
        </>
      )}
      {form.where !== "page" && sent !== "" && (
        <p className="note">
          Sent to the worker, into this run’s folder, when the run is measured or started: {sent}.
        </p>
      )}
      {form.where === "page" && (
        <p className="note">
          In a terminal, saved beside the files that it names:{" "}
          <code>npx gcopd train --config FILE --out FOLDER</code>
        </p>
      )}
    </details>
  );
}
