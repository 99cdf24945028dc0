import { useRef } from "react";
import { type PathFile, pickedFiles } from "./dropped-files.ts";

/** A button that asks for files, or for a folder with all that it holds. Nothing happens where none are picked. */
export function PickButton({
  children,
  label,
  testId,
  accept,
  folder = false,
  disabled,
  onPick,
}: {
  children: string;
  /** Name of the hidden input. */
  label: string;
  testId: string;
  accept?: string;
  folder?: boolean;
  disabled: boolean;
  onPick: (files: PathFile[]) => unknown;
}) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" disabled={disabled} onClick={() => picker.current?.click()}>
        {children}
      </button>
      <input
        ref={(input) => {
          picker.current = input;
          if (input !== null) input.webkitdirectory = folder;
        }}
        type="file"
        multiple={!folder}
        hidden
        aria-label={label}
        accept={accept}
        data-testid={testId}
        onChange={({ target }) => {
          const picked = pickedFiles(target.files ?? []);
          target.value = "";
          if (picked.length > 0) void onPick(picked);
        }}
      />
    </>
  );
}
