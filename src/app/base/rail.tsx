/** A view's result with, beside it, everything that can be set: a rail that folds away, at narrow widths a line above. */
import { type ReactNode, useState } from "react";
import { remember, remembered } from "./remembered.ts";

/** At this width the controls have room beside the result. */
const WIDE = "(width >= 1100px)";

/** `view`: its name; whether its rail is folded is remembered. */
export function WithRail({
  view,
  controls,
  children,
}: {
  view: string;
  controls: ReactNode;
  children: ReactNode;
}) {
  const key = `gcopd-${view}-rail`;
  const [open, setOpen] = useState(() => {
    const before = remembered(key);
    return before === "" ? window.matchMedia(WIDE).matches : before === "open";
  });
  return (
    <div className="with-rail">
      <div className="beside-rail">{children}</div>
      <details
        className="rail panel"
        open={open}
        onToggle={({ currentTarget }) => {
          if (currentTarget.open === open) return;
          setOpen(currentTarget.open);
          remember(key, currentTarget.open ? "open" : "folded");
        }}
        data-testid={`${view}-rail`}
      >
        <summary>Controls</summary>
        <div className="rail-controls">{controls}</div>
      </details>
    </div>
  );
}
