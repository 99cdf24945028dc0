/** The guide over whatever is shown: it stays open beside nothing, and closing it leaves the place as it was. */
import { createElement, type ReactNode, useEffect, useRef, useState } from "react";
import type { HtmlNode } from "../../../scripts/html-nodes.mjs";
import { Scroller } from "../base/scroller.tsx";
import { NOT_LOADED } from "../base/worker/remote-worker.ts";
import { GUIDE_PAGES, GUIDE_TITLES, type GuidePage } from "./guide-pages.ts";
import { GUIDE_TEXTS } from "./guide-texts.ts";
import { setShell, useShell } from "./shell-state.ts";

const close = (): void => setShell({ guide: null });

const UNREAD: readonly HtmlNode[] = [["p", {}, [`This part of the guide ${NOT_LOADED}.`]]];

/** The page's elements; null until they are there. */
export function useText(page: GuidePage | null): readonly HtmlNode[] | null {
  const [text, setText] = useState<{ page: GuidePage; nodes: readonly HtmlNode[] } | null>(null);
  useEffect(() => {
    if (page === null) return;
    let wanted = true;
    GUIDE_TEXTS[page]().then(
      ({ default: nodes }) => wanted && setText({ page, nodes }),
      () => wanted && setText({ page, nodes: UNREAD }),
    );
    return () => {
      wanted = false;
    };
  }, [page]);
  return text !== null && text.page === page ? text.nodes : null;
}

function element(node: HtmlNode): ReactNode {
  if (typeof node === "string") return node;
  const [tag, properties, children] = node;
  return createElement(tag, properties, ...children.map(element));
}

/** Links from page to page are the guide's own. */
function follow(event: Event): void {
  const link = (event.target as Element).closest<HTMLElement>("[data-guide]");
  const page = GUIDE_PAGES.find((each) => each === link?.dataset.guide);
  if (page === undefined) return;
  event.preventDefault();
  setShell({ guide: page });
}

export function GuideDialog() {
  const page = useShell((shell) => shell.guide);
  const nodes = useText(page);
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
              onClick={() => setShell({ guide: each })}
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
        {nodes === null ? <p>Reading the page…</p> : createElement("div", null, ...nodes.map(element))}
      </Scroller>
    </dialog>
  );
}
