/** The bar at the top: where one is, what is open, what it is computed on. */

import { memo, useEffect, useRef } from "react";
import { shownName } from "../base/text/shown-text.ts";
import { useAtRest } from "../base/use-at-rest.ts";
import { openLibraries } from "../compute/open/libraries.ts";
import { useUi } from "../compute/store.ts";
import { navigate } from "../data/navigate.ts";
import { libraryNames } from "../data/open-libraries.ts";
import { formatPlace } from "../url/link.ts";
import { type Place, VIEWS, type View } from "../url/place.ts";
import { VIEW_TITLES } from "./actions/index.ts";
import { AtWork } from "./at-work.tsx";
import { DeviceMenu } from "./device-menu.tsx";
import { isMac, keyCaps } from "./keys.ts";
import { setShell, THEMES, useShell } from "./shell-state.ts";
import { chooseTheme } from "./theme.ts";

export function Header() {
  const theme = useShell((shell) => shell.theme);
  return (
    <header className="top">
      {/* A link would be read as a place: the hash is where the user is. */}
      <button type="button" className="skip" onClick={() => document.getElementById("view")?.focus()}>
        Skip to the view
      </button>
      <h1 className="brand">
        <svg width="18" height="16" viewBox="0 0 18 16" aria-hidden="true">
          <path d="M2 13 6.5 5l4.5 5L15.5 3" fill="none" stroke="var(--accent)" strokeWidth="2.2" />
          <circle cx="15.5" cy="3" r="2.3" fill="var(--with-evidence)" />
        </svg>
        GC-OPD Workbench
      </h1>
      <Tabs />
      <div className="top-end">
        <AtWork />
        <LibrarySwitch />
        <DeviceMenu />
        <label>
          <span className="hidden-visually">Theme</span>
          <select
            className="theme"
            title="Theme"
            value={theme}
            onChange={(event) => chooseTheme(THEMES.find((name) => name === event.target.value) ?? "system")}
          >
            <option value="system">System</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <button
          type="button"
          className="find"
          aria-label="Find an action or a place"
          title="Find an action, a task, an episode, an execution"
          onClick={() => setShell({ paletteOpen: true })}
        >
          Find <kbd>{keyCaps("Mod+k", isMac())}</kbd>
        </button>
        <button
          type="button"
          aria-label="Keyboard help"
          title="Keyboard help (?)"
          onClick={() => setShell({ helpOpen: true })}
        >
          ?
        </button>
      </div>
    </header>
  );
}

/** Their addresses, which only a click with a key takes, follow when what one steps through rests, as the page's own. */
function Tabs() {
  const place = useUi((ui) => ui.place);
  const rested = useAtRest(place, false);
  return <TabLinks present={place.view} place={rested} />;
}

const TabLinks = memo(function TabLinks({ present, place }: { present: View; place: Place }) {
  const tabs = useRef<HTMLElement>(null);
  // In a narrow window the tabs scroll: a key may choose one that is out of sight, and a window that narrows may hide it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tab that is current is the one of this view
  useEffect(() => {
    const { current: bar } = tabs;
    if (bar === null) return;
    // An observer also reports the first size, so a change of view needs nothing more.
    const resized = new ResizeObserver(() =>
      bar.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }),
    );
    resized.observe(bar);
    return () => resized.disconnect();
  }, [present]);
  return (
    <nav className="tabs" aria-label="Views" ref={tabs}>
      {VIEWS.map((view, i) => (
        <a
          key={view}
          href={formatPlace({ ...place, view })}
          aria-current={present === view ? "page" : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            navigate({ view }, "push");
          }}
        >
          {VIEW_TITLES[view]} <span className="key">{i + 1}</span>
        </a>
      ))}
    </nav>
  );
});

/** The menu of the open libraries, where there is another one. */
function LibrarySwitch() {
  const library = useUi((ui) => ui.library);
  const libraries = useUi((ui) => ui.libraries);
  if (!libraries.some(({ summary }) => summary !== library)) return null;
  const names = libraryNames(libraries);
  return (
    <label className="library-choice">
      <span className="hidden-visually">Library</span>
      <select
        title={`Library (l): ${library === null ? "none is shown" : names.get(library.id)}`}
        value={library?.id ?? ""}
        onChange={(event) => openLibraries.show(event.target.value)}
      >
        {library === null && <option value="">not open</option>}
        {libraries.map(({ summary: { id } }) => (
          <option key={id} value={id}>
            {shownName(names.get(id)!, 80)}
          </option>
        ))}
      </select>
    </label>
  );
}
