/** The card of the tour beside what it points at. Not modal: the page can be used meanwhile. */
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { endTour, useTour } from "../../compute/open/tour-state.ts";
import { useUi } from "../../compute/store.ts";
import { STEPS, type TourStep } from "./steps.ts";
import { goToStep, startTour } from "./tour.ts";
import { placeBeside, useTarget } from "./use-target.ts";

export function Tour() {
  const at = useTour((tour) => tour.at);
  const on = at !== null;
  const asked = useTour((tour) => tour.asked);
  useEffect(() => {
    if (asked) void startTour();
  }, [asked]);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    if (!on) return;
    before.current = document.activeElement;
    return () => {
      // Back to where the focus was, if that is still there.
      if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
    };
  }, [on]);
  const step = at === null ? undefined : STEPS[at];
  return at === null || step === undefined ? null : <Card at={at} step={step} />;
}

function Card({ at, step }: { at: number; step: TourStep }) {
  const box = useTarget(step.target);
  const text = useUi((ui) => step.text(ui) ?? step.waiting?.(ui) ?? "One moment…");
  const label = useUi((ui) => step.act?.(ui)?.label ?? null);
  const card = useRef<HTMLDialogElement>(null);
  const next = useRef<HTMLButtonElement>(null);
  const [size, setSize] = useState({ width: 340, height: 190 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has another height
  useLayoutEffect(() => {
    const { offsetWidth: width, offsetHeight: height } = card.current!;
    setSize((was) => (was.width === width && was.height === height ? was : { width, height }));
  }, [text, at]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step takes the focus
  useEffect(() => next.current?.focus({ preventScroll: true }), [at]);
  const last = at === STEPS.length - 1;
  const goOn = (): void => {
    step.act?.(useUi.getState())?.run();
    goToStep(at + 1);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowRight") goOn();
    else if (event.key === "ArrowLeft" && at > 0) goToStep(at - 1);
    else if (event.key === "Escape") endTour();
    else return;
    event.preventDefault();
  };
  const { left, top } = placeBeside(box, size, { width: window.innerWidth, height: window.innerHeight });
  return (
    <>
      {box !== null && (
        <div
          className="tour-ring"
          aria-hidden="true"
          style={{ left: box.left - 4, top: box.top - 4, width: box.width + 8, height: box.height + 8 }}
        />
      )}
      <dialog
        open
        ref={card}
        className="tour-card"
        aria-labelledby="tour-title"
        aria-describedby="tour-text"
        style={{ left, top }}
        onKeyDown={press}
        data-testid="tour"
        data-step={step.id}
      >
        {/* No header element: outside of modal dialogs it would be the page's banner. */}
        <div className="tour-head">
          <h2 id="tour-title">{step.title}</h2>
          <span className="note">
            {at + 1} of {STEPS.length}
          </span>
        </div>
        <p id="tour-text" aria-live="polite">
          {text}
        </p>
        <div className="tour-buttons">
          <button type="button" className="plain" onClick={endTour}>
            Close <kbd>Esc</kbd>
          </button>
          <span className="spacer" />
          {at > 0 && (
            <button type="button" onClick={() => goToStep(at - 1)}>
              Back <kbd>←</kbd>
            </button>
          )}
          <button ref={next} type="button" className="primary" onClick={goOn}>
            {label ?? (last ? "Done" : "Next")} <kbd>→</kbd>
          </button>
        </div>
      </dialog>
    </>
  );
}
