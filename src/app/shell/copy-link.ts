/** The link to what is on the screen, for another tab or another person. */

import { hint } from "../base/hint.ts";
import { getUi } from "../compute/store.ts";
import { placeUrl } from "../data/navigate.ts";
import { opensByItself } from "../url/library-link.ts";

export async function copyLink(): Promise<void> {
  const { library, place } = getUi();
  try {
    // A step that was just taken is in it too.
    placeUrl.settle();
    await navigator.clipboard.writeText(window.location.href);
    hint(
      place.view === "play"
        ? "Link copied: it opens this view, without games and without what was played. Save that as records."
        : library !== null && !opensByItself(library.link)
          ? "Link copied. It does not hold your files: whoever opens it opens them too."
          : "Link copied: it opens this in any tab of this workbench.",
    );
  } catch {
    hint("The browser does not let this page write to the clipboard: the link is in the address bar.");
  }
}
