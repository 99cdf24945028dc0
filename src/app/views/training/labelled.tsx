import { cloneElement, type ReactElement, useId } from "react";

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
  /** The control. */
  children: ReactElement<{ "aria-describedby"?: string }>;
}) {
  const id = useId();
  return (
    <span className="form-field">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is the child */}
      <label title={title || undefined}>
        <span className="caption">{label}</span>
        {problem === undefined ? children : cloneElement(children, { "aria-describedby": id })}
      </label>
      {problem !== undefined && (
        <span className="fault" id={id} role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
