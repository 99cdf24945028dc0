/** The guide over whatever is shown: it stays open beside nothing, and closing it leaves the place as it was. */
import { useEffect, useRef, useState } from "react";
import { setUi, useUi } from "../state/store.ts";
import { GUIDE_PAGES, GUIDE_TITLES, type GuidePage } from "./guide-pages.ts";
import { GUIDE_TEXTS } from "./guide-texts.ts";
import { Scroller } from "./scroller.tsx";

const close = (): void => setUi({ guide: null });

/** The page's text; null until it is there. */
function useText(page: GuidePage | null): string | null {
  const [text, setText] = useState<{ page: GuidePage; html: string } | null>(null);
  useEffect(() => {
    if (page === null) return;
    let wanted = true;
    GUIDE_TEXTS[page]().then(
      ({ default: html }) => wanted && setText({ page, html }),
      () =>
        wanted &&
        setText({
          page,
          html: "<p>This page of the guide could not be read from the server. Is it running?</p>",
        }),
    );
    return () => {
      wanted = false;
    };
  }, [page]);
  return text !== null && text.page === page ? text.html : null;
}

/** Links from page to page are the guide's own. */
function follow(event: Event): void {
  const link = (event.target as Element).closest<HTMLElement>("[data-guide]");
  const page = GUIDE_PAGES.find((each) => each === link?.dataset.guide);
  if (page === undefined) return;
  event.preventDefault();
  setUi({ guide: page });
}

export function GuideDialog() {
  const page = useUi((ui) => ui.guide);
  const html = useText(page);
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLElement>(null);
  useEffect(() => {
    if (page !== null && !dialog.current?.open) dialog.current?.showModal();
    if (page === null && dialog.current?.open) dialog.current.close();
    body.current?.scrollTo({ top: 0 });
  }, [page]);
  useEffect(() => {
    const text = body.current;
    text?.addEventListener("click", follow);
    return () => text?.removeEventListener("click", follow);
  }, []);
  return (
    <dialog ref={dialog} className="guide" data-dialog="guide" aria-labelledby="guide-title" onClose={close}>
      <header>
        <h2 id="guide-title">Guide</h2>
        <nav aria-label="Pages of the guide">
          {GUIDE_PAGES.map((each) => (
            <button
              key={each}
              type="button"
              aria-current={each === page ? "page" : undefined}
              onClick={() => setUi({ guide: each })}
            >
              {GUIDE_TITLES[each]}
            </button>
          ))}
        </nav>
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      <Scroller ref={body} className="guide-text" label={page === null ? "Guide" : GUIDE_TITLES[page]}>
        {html === null ? (
          <p>Reading the page…</p>
        ) : (
          // biome-ignore lint/security/noDangerouslySetInnerHtml: made from docs/ when the page was built
          <div dangerouslySetInnerHTML={{ __html: html }} />
        )}
      </Scroller>
    </dialog>
  );
}
