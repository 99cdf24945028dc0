/** Choosing two visits to set beside each other: the first press takes one, the next press on another compares. */

import type { ComparedVisit } from "../url/place.ts";
import { navigate } from "./navigate.ts";
import { type DataState, getData } from "./store.ts";

export const sameVisit = (a: ComparedVisit, b: ComparedVisit): boolean =>
  a.kind === b.kind && a.id === b.id && a.position === b.position;

/** Takes a visit, compares it with the one that was taken before, or puts the same one back. */
export function chooseVisit(visit: ComparedVisit): void {
  const { compared } = getData().place;
  const [first] = compared;
  if (first === undefined || compared.length === 2) navigate({ compared: [visit] });
  else if (sameVisit(first, visit)) navigate({ compared: [] });
  else navigate({ compared: [first, visit] }, "push");
}

/** The visit that an element of the page stands for, by its `data-visit`. */
export function visitOfElement(element: Element | null): ComparedVisit | null {
  const text = element?.closest("[data-visit]")?.getAttribute("data-visit") ?? "";
  const found = /^(source|episode):(.+)@(\d+)$/s.exec(text);
  if (found === null) return null;
  return { kind: found[1] as ComparedVisit["kind"], id: found[2]!, position: Number(found[3]) };
}

/** What is meant without a mouse: the visit under the focus, else the pinned one, else the student's decision. */
export function visitMeant({ place, task }: Pick<DataState, "place" | "task">): ComparedVisit | null {
  if (place.view !== "task") return null;
  const focused = visitOfElement(typeof document === "undefined" ? null : document.activeElement);
  if (focused !== null) return focused;
  if (place.visit !== null) return { kind: "source", id: place.visit.source, position: place.visit.position };
  if (task === null || place.episode === null) return null;
  return { kind: "episode", id: place.episode, position: place.decision };
}

/** The `data-visit` of a visit. */
export const visitName = ({ kind, id, position }: ComparedVisit): string => `${kind}:${id}@${position}`;
