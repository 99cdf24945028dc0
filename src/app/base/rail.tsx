/** A view's result with, beside it, everything that can be set: a rail that folds away, at narrow widths a line above. */
import { type ReactNode, useState, useSyncExternalStore } from "react";
import { remember, remembered } from "./remembered.ts";

/** At this width the controls have room beside the result. */
const WIDE = "(width >= 68.75rem)";

/** Whether a part of a view is unfolded, as the user last left it. */
export function useUnfolded(
  view: string,
  atFirst: () => boolean,
): [open: boolean, unfold: (open: boolean) => void] {
  const key = `gcopd-${view}-rail`;
  const [open, setOpen] = useState(() => {
    const before = remembered(key);
    return before === "" ? atFirst() : before === "open";
  });
  const unfold = (next: boolean): void => {
    if (next === open) return;
    setOpen(next);
    remember(key, next ? "open" : "folded");
  };
  return [open, unfold];
}

/** @param view its name, under which the browser remembers whether the rail is folded */
export function WithRail({
  view,
  controls,
  children,
}: {
  view: string;
  controls: ReactNode;
  children: ReactNode;
}) {
  const isWide = useSyncExternalStore(followWidth, () => window.matchMedia(WIDE).matches);
  return (
    <div className="with-rail">
      <div className="beside-rail">{children}</div>
      <Rail key={String(isWide)} view={view} isWide={isWide}>
        {controls}
      </Rail>
    </div>
  );
}

function followWidth(changed: () => void): () => void {
  const query = window.matchMedia(WIDE);
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}

/** Above the result the rail stays folded until it is opened there, even if it was open beside one. */
function Rail({ view, isWide, children }: { view: string; isWide: boolean; children: ReactNode }) {
  const [open, unfold] = useUnfolded(isWide ? view : `${view}-narrow`, () => isWide);
  return (
    <details
      className="rail panel"
      open={open}
      onToggle={({ currentTarget }) => unfold(currentTarget.open)}
      data-testid={`${view}-rail`}
    >
      <summary>Controls</summary>
      <div className="rail-controls">{children}</div>
    </details>
  );
}
