/** A button that shows a few others below it, closed by choosing one, by Escape and by going elsewhere. */
import { type ReactNode, useRef } from "react";

export function Menu({ label, children }: { label: string; children: ReactNode }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (menu.current) menu.current.open = false;
  };
  return (
    <details
      className="menu"
      ref={menu}
      onBlur={({ relatedTarget }) => {
        // Without a target the focus is in a file dialog of the browser's, or on nothing.
        if (relatedTarget !== null && !menu.current?.contains(relatedTarget)) close();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.preventDefault();
        close();
        menu.current.querySelector("summary")?.focus();
      }}
    >
      <summary className="button">{label}</summary>
      <div className="menu-items">{children}</div>
    </details>
  );
}
