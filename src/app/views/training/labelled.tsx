import { type ReactNode, useId } from "react";

/** A control with its caption and, where there is one, its problem. */
export function Labelled({
  label,
  problem,
  title,
  children,
}: {
  label: string;
  problem?: string | undefined;
  title?: string;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <span className="form-field">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is the child */}
      <label title={title || undefined} aria-describedby={problem === undefined ? undefined : id}>
        <span className="caption">{label}</span>
        {children}
      </label>
      {problem !== undefined && (
        <span className="fault" id={id} role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
