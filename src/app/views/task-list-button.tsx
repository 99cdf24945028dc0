/** A button that asks for a file with a list of tasks. */
import type { EnvironmentName } from "../../core/loop/live-config.ts";
import { faultNotice } from "../session/faults.ts";
import { type PickedTasks, readPickedTasks } from "../session/task-list-file.ts";
import type { PathFile } from "../shell/dropped-files.ts";
import { setUi } from "../state/store.ts";
import { PickButton } from "./pick-button.tsx";

export function TaskListButton({
  environment,
  disabled,
  onRead,
}: {
  environment: EnvironmentName;
  disabled: boolean;
  onRead: (picked: PickedTasks) => void;
}) {
  const pick = async (files: PathFile[]): Promise<void> => {
    try {
      onRead(await readPickedTasks(files, environment));
    } catch (error) {
      setUi({ notice: faultNotice(error) });
    }
  };
  return (
    <PickButton
      label="A list of tasks"
      testId="task-list"
      accept=".txt,.json,.jsonl"
      disabled={disabled}
      onPick={pick}
    >
      Choose a list…
    </PickButton>
  );
}
