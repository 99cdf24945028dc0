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
  children: ReactElement<{ id?: string; "aria-describedby"?: string }>;
}) {
  const id = useId();
  const fault = `${id}-fault`;
  return (
    <span className="form-field">
      <label htmlFor={id} title={title || undefined}>
        <span className="caption">{label}</span>
        {cloneElement(children, { id, ...(problem === undefined ? {} : { "aria-describedby": fault }) })}
      </label>
      {problem !== undefined && (
        <span className="fault" id={fault} role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
