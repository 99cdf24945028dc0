/** Elements of a page that a keyboard cannot reach, or reaches without a visible focus. */
import type { Page } from "@playwright/test";

/**
 * One line for each fault on the screen, or in the dialog that is open: a control that no Tab and no arrow keys come to,
 * something that only a pointer can press, and a focus that changes nothing that is seen.
 */
export async function keyboardFaults(page: Page): Promise<string[]> {
  // A key makes the browser show the focus from here on.
  await page.keyboard.press("Shift");
  return page.evaluate(() => {
    const CONTROLS =
      "a[href], button, input, select, textarea, summary, [tabindex], [role=option], [role=gridcell]";
    const PRESSED = CONTROLS.replace("[tabindex]", "[tabindex='0']");
    const COMPOSITES = "[role=grid], [role=listbox], [role=application]";
    const dialogs = document.querySelectorAll<HTMLDialogElement>("dialog:modal");
    const root = [...dialogs].at(-1) ?? document.body;
    const faults = new Set<string>();
    const name = (element: Element): string =>
      `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} “${(
        element.getAttribute("aria-label") ??
        element.textContent ??
        ""
      )
        .trim()
        .slice(0, 40)}”`;
    const seen = (element: Element): boolean =>
      element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 0;
    const look = (element: Element): string => {
      const around = [element, element.parentElement, element.closest("label, section, figure, td, th, li")];
      return around
        .flatMap((each) => {
          if (each === null) return [];
          const { outline, boxShadow, borderColor, backgroundColor, textDecoration, stroke } =
            getComputedStyle(each);
          return [outline, boxShadow, borderColor, backgroundColor, textDecoration, stroke];
        })
        .join("|");
    };
    const was = document.activeElement;
    const places = new Map(
      [...document.querySelectorAll("*")].flatMap((element) =>
        element.scrollTop === 0 && element.scrollLeft === 0
          ? []
          : [[element, [element.scrollLeft, element.scrollTop]] as const],
      ),
    );
    for (const element of root.querySelectorAll<HTMLElement>(CONTROLS)) {
      if (!seen(element) || element.matches(":disabled, [aria-hidden=true], [aria-hidden=true] *")) continue;
      const composite = element.parentElement?.closest(COMPOSITES) ?? null;
      const interactive = element.matches(
        "a[href], button, input, select, textarea, summary, [role=option], [role=gridcell]",
      );
      const followed = document.querySelector(`[aria-controls="${composite?.id}"]`) !== null;
      if (element.tabIndex < 0) {
        const byArrows =
          composite !== null &&
          (followed ||
            composite.querySelector("[tabindex='0']") !== null ||
            composite.matches("[tabindex='0']"));
        if (interactive && !byArrows) faults.add(`not reached: ${name(element)}`);
        continue;
      }
      if (document.activeElement === element) element.blur();
      const before = look(element);
      element.focus({ preventScroll: true });
      if (document.activeElement !== element) faults.add(`takes no focus: ${name(element)}`);
      else if (look(element) === before) faults.add(`focus is not seen: ${name(element)}`);
    }
    for (const element of root.querySelectorAll<HTMLElement>("*")) {
      if (getComputedStyle(element).cursor !== "pointer" || !seen(element)) continue;
      if (element.closest(`${PRESSED}, label, ${COMPOSITES}, :disabled`) === null)
        faults.add(`for a pointer only: ${name(element)}`);
    }
    if (was instanceof HTMLElement) was.focus({ preventScroll: true });
    for (const [element, [left, top]] of places) element.scrollTo(left, top);
    return [...faults];
  });
}
