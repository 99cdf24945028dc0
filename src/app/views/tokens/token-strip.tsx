/** The response as tokens: background by Δ, underline by |Δ|, white space visible; left and right go through them. */
import { type KeyboardEvent, useEffect, useRef } from "react";
import { navigate } from "../../place/navigate.ts";
import type { TokenScores } from "../../state/store.ts";
import { deltaColour } from "./delta-colour.ts";
import { nats, visibleToken } from "./format.ts";

/** Thickest underline, in pixels. */
const UNDERLINE = 5;

/** What moves or scrolls with the arrow keys itself. */
function usesArrows(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, select, section[tabindex]") !== null;
}

export function TokenStrip({
  scores,
  deltas,
  limit,
  pinned,
}: {
  scores: TokenScores;
  deltas: Float32Array;
  limit: number;
  pinned: number | null;
}) {
  const strip = useRef<HTMLDivElement>(null);
  const colour = deltaColour(limit);
  const last = scores.pieces.length - 1;
  const go = (token: number): void => {
    navigate({ token });
    strip.current?.querySelector<HTMLElement>(`[data-token="${token}"]`)?.focus();
  };
  const move = (event: KeyboardEvent): void => {
    const at = pinned ?? -1;
    if (event.key === "ArrowRight") go(Math.min(at + 1, last));
    else if (event.key === "ArrowLeft") go(Math.max(at - 1, 0));
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(last);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    // Arrows work at once, wherever the focus is, but where something else wants them.
    const press = (event: globalThis.KeyboardEvent): void => {
      if (event.defaultPrevented || usesArrows(event.target)) return;
      if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        event.preventDefault();
        const by = event.key === "ArrowRight" ? 1 : -1;
        const token = Math.min(last, Math.max(0, (pinned ?? (by > 0 ? -1 : 1)) + by));
        navigate({ token });
        strip.current?.querySelector<HTMLElement>(`[data-token="${token}"]`)?.focus();
      }
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [last, pinned]);
  return (
    <div
      ref={strip}
      className="strip"
      role="listbox"
      aria-label="Response tokens"
      aria-orientation="horizontal"
      tabIndex={-1}
      onKeyDown={move}
      data-testid="strip"
    >
      {scores.pieces.map((piece, i) => {
        const delta = deltas[i]!;
        const thickness = Math.min(UNDERLINE, (UNDERLINE * Math.abs(delta)) / limit);
        const selected = pinned === i;
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
            key={i}
            role="option"
            aria-selected={selected}
            tabIndex={selected || (pinned === null && i === 0) ? 0 : -1}
            className={`token${selected ? " pinned" : ""}`}
            style={{
              backgroundColor: colour(delta),
              boxShadow: thickness < 0.5 ? "none" : `inset 0 -${thickness.toFixed(1)}px #1b1d21`,
            }}
            data-token={i}
            aria-label={`${visibleToken(piece)}, Δ ${nats(delta, true)}`}
            onClick={() => navigate({ token: selected ? null : i })}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== " ") return;
              event.preventDefault();
              navigate({ token: selected ? null : i });
            }}
          >
            {visibleToken(piece)}
          </span>
        );
      })}
    </div>
  );
}
