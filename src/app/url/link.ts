/**
 * A place as the hash of the URL. `parsePlace` checks the form on entry (whether a task or an episode with that name
 * exists is checked later, against the library); nonsense gives a sentence, not a crash. `formatPlace` writes the
 * shortest hash that `parsePlace` reads back as the same place.
 */

import { isOneOf } from "../../core/one-of.ts";
import { shownName } from "../base/text/shown-text.ts";
import { ADDRESS_KEYS } from "./address-keys.ts";
import { MOST_LINK_TEXT, TEXT_LEFT_OUT } from "./evidence-text.ts";
import { withHalves, withoutHalves } from "./halves.ts";
import { HOME, type Place, VIEWS } from "./place.ts";

export { isSharedPath } from "./address-keys.ts";

export interface ParsedPlace {
  place: Place;
  /** One sentence for each part of the link that could not be read. */
  problems: string[];
}

function decode(text: string): string | null {
  try {
    return withHalves(decodeURIComponent(text));
  } catch {
    return null;
  }
}

/** Characters of a value that could not be read which are shown. */
const MOST_SHOWN = 120;

/** What a link says, as a problem quotes it. */
const quoted = (text: string): string => `“${shownName(text, MOST_SHOWN)}”`;

const TEXT_PROBLEM =
  `The link’s “text=*” stands for an evidence that was edited by hand and takes more than ` +
  `${MOST_LINK_TEXT.toLocaleString("en")} characters of a link: drop the record file that was saved with it.`;

/**
 * Reads `#/view/task?key=value…`. An empty hash is the library. `kept` is the edited evidence that the hash was too
 * short for, where it is known from elsewhere.
 */
export function parsePlace(hash: string, kept: string | null = null): ParsedPlace {
  const problems: string[] = [];
  let place: Place = { ...HOME };
  const [, path = "", query = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const [view = "", task = "", ...rest] = path.split("/");
  if (view !== "") {
    if (isOneOf(VIEWS, view)) place.view = view;
    else problems.push(`There is no view called ${quoted(view)}: expected ${VIEWS.join(", ")}.`);
  }
  if (rest.length > 0) problems.push(`The link goes on after the task: ${quoted(rest.join("/"))}.`);
  if (task !== "") {
    const decoded = decode(task);
    if (decoded === null) problems.push(`The task in the link is not correctly escaped: ${quoted(task)}.`);
    else place.task = decoded;
  }
  for (const [name, escaped] of new URLSearchParams(query)) {
    const value = withHalves(escaped);
    const key = ADDRESS_KEYS.find((each) => each.name === name);
    if (key === undefined) problems.push(`The link has an unknown part ${quoted(name)}.`);
    else if (name === "text" && value === TEXT_LEFT_OUT) {
      place.text = kept;
      if (kept === null) problems.push(TEXT_PROBLEM);
    } else {
      const next = key.read(value, place);
      if (next === null)
        problems.push(`${quoted(`${name}=${value}`)} in the link: expected ${key.expected}.`);
      else place = next;
    }
  }
  return { place, problems };
}

/** The hash of a place, without what is as it was by default. */
export function formatPlace(place: Place): string {
  const parameters = new URLSearchParams();
  for (const { name, write } of ADDRESS_KEYS) {
    for (const value of write(place)) parameters.append(name, withoutHalves(value));
  }
  const task = place.task === null ? "" : `/${encodeURIComponent(withoutHalves(place.task))}`;
  const query = parameters.toString();
  return `#/${place.view}${task}${query === "" ? "" : `?${query}`}`;
}
