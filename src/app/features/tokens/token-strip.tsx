/**
 * The response as tokens: background by the chosen signal, underline by |Δ|, a caret where the most probable token
 * flips, white space visible; left and right go through them.
 */
import { type MouseEvent, memo, useEffect, useMemo, useRef } from "react";
import { shortToken } from "../../base/format.ts";
import { navigate } from "../../data/navigate.ts";
import { hover, useHover } from "./hover.ts";
import type { TokenSignal } from "./signal.ts";
import { type InUnits, unitOf } from "./units.ts";

/** Thickest underline, in pixels. */
const UNDERLINE = 5;

/** What moves or scrolls with the arrow keys itself. */
function usesArrows(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest("input, select, section[tabindex], [role=grid]") !== null
  );
}

/** The place in the strip that an event is of. */
function placeAt(target: EventTarget): number | null {
  const token = target instanceof Element ? target.closest<HTMLElement>("[data-token]") : null;
  return token === null ? null : Number(token.dataset.token);
}

export function TokenStrip({
  units,
  signal,
  limit,
  flipped,
  token,
}: {
  units: InUnits;
  signal: TokenSignal;
  /** |Δ| of the thickest underline. */
  limit: number;
  /** [units] where the most probable token flips; null where that is not known. */
  flipped: readonly boolean[] | null;
  /** The selected one. */
  token: number | null;
}) {
  const strip = useRef<HTMLDivElement>(null);
  const { leads } = units;
  const { deltas } = units.compared;
  const texts = useMemo(() => units.texts.map(shortToken), [units.texts]);
  const last = texts.length - 1;
  const pinned = token === null ? null : unitOf(units, token);
  useEffect(() => {
    const go = (place: number): void => {
      navigate({ token: leads[place]! });
      strip.current?.querySelector<HTMLElement>(`[data-token="${place}"]`)?.focus();
    };
    // Arrows work at once, wherever the focus is, but where something else wants them.
    const press = (event: globalThis.KeyboardEvent): void => {
      if (event.defaultPrevented || usesArrows(event.target)) return;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const inside = event.target instanceof Node && strip.current?.contains(event.target);
      const at = pinned ?? -1;
      if (event.key === "ArrowRight") go(Math.min(at + 1, last));
      else if (event.key === "ArrowLeft") go(Math.max(pinned === null ? 0 : at - 1, 0));
      else if (inside && event.key === "Home") go(0);
      else if (inside && event.key === "End") go(last);
      else if (inside && (event.key === "Enter" || event.key === " ")) {
        const place = placeAt(event.target as Node);
        if (place !== null) navigate({ token: leads[place]! });
      } else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [last, pinned, leads]);
  useEffect(() => {
    // Marked without drawing the tokens again: the pointer moves often.
    const mark = (hovered: number | null): void => {
      strip.current?.querySelector(".token.hovered")?.classList.remove("hovered");
      if (hovered === null) return;
      const place = unitOf(units, hovered);
      strip.current?.querySelector(`[data-token="${place}"]`)?.classList.add("hovered");
    };
    const leave = useHover.subscribe(({ token }) => mark(token));
    return () => {
      leave();
      hover(null);
    };
  }, [units]);
  const leadAt = (target: EventTarget): number | null => {
    const place = placeAt(target);
    return place === null ? null : leads[place]!;
  };
  return (
    // biome-ignore lint/a11y/useKeyWithMouseEvents: what the pointer marks, the arrow keys pin
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are heard on the window
    <div
      ref={strip}
      className="strip"
      role="listbox"
      aria-label="Response tokens"
      aria-orientation="horizontal"
      tabIndex={-1}
      data-testid="strip"
      onMouseOver={(event: MouseEvent) => hover(leadAt(event.target))}
      onMouseLeave={() => hover(null)}
      onClick={(event: MouseEvent) => {
        const chosen = leadAt(event.target);
        if (chosen !== null) navigate({ token: chosen });
      }}
    >
      {texts.map((text, i) => (
        <Token
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
          key={i}
          at={i}
          text={text}
          words={signal.words[i]!}
          colour={signal.colours[i] ?? null}
          thickness={deltas === null ? 0 : Math.min(UNDERLINE, (UNDERLINE * Math.abs(deltas[i]!)) / limit)}
          flips={flipped?.[i] ?? false}
          pinned={pinned === i}
          reached={pinned === i || (pinned === null && i === 0)}
        />
      ))}
    </div>
  );
}

const Token = memo(function Token({
  at,
  text,
  words,
  colour,
  thickness,
  flips,
  pinned,
  reached,
}: {
  at: number;
  text: string;
  words: string;
  colour: string | null;
  thickness: number;
  flips: boolean;
  pinned: boolean;
  /** By the Tab key. */
  reached: boolean;
}) {
  const line = `inset 0 -${thickness.toFixed(1)}px currentcolor`;
  return (
    <span
      role="option"
      aria-selected={pinned}
      tabIndex={reached ? 0 : -1}
      className={`token${pinned ? " pinned" : ""}${colour === null ? " colourless" : ""}${flips ? " flips" : ""}`}
      style={{ backgroundColor: colour ?? undefined, boxShadow: thickness < 0.5 ? "none" : line }}
      data-token={at}
      aria-label={`${text}, ${words}${flips ? ", most probable token flips" : ""}`}
    >
      {text}
    </span>
  );
});
