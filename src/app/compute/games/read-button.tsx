/** A button that asks for a file and reads it; the page's notice says what is wrong with it. */
import type { EnvironmentName } from "../../../core/loop/live-config.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import { faultNotice } from "../../base/faults.ts";
import { PickButton } from "../../base/pick-button.tsx";
import { setUi } from "../store.ts";
import { type PickedTasks, readPickedTasks } from "./picked-files.ts";

export function ReadButton<T>({
  read,
  onRead,
  ...button
}: {
  children: string;
  /** Name of the hidden input. */
  label: string;
  testId: string;
  accept: string;
  disabled: boolean;
  read: (files: PathFile[]) => Promise<T>;
  onRead: (picked: T) => void;
}) {
  const pick = async (files: PathFile[]): Promise<void> => {
    try {
      onRead(await read(files));
    } catch (error) {
      setUi({ notice: faultNotice(error) });
    }
  };
  return <PickButton {...button} onPick={pick} />;
}

/** Asks for a list of tasks. */
export function TaskListButton({
  environment,
  disabled,
  onRead,
}: {
  environment: EnvironmentName;
  disabled: boolean;
  onRead: (picked: PickedTasks) => void;
}) {
  return (
    <ReadButton
      label="A list of tasks"
      testId="task-list"
      accept=".txt,.json,.jsonl"
      disabled={disabled}
      read={(files) => readPickedTasks(files, environment)}
      onRead={onRead}
    >
      Choose a list…
    </ReadButton>
  );
}
