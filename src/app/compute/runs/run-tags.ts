/** Tags that the user gives to runs. They belong to this browser, wherever a run computes. */
import { z } from "zod";
import { create } from "zustand";
import { remember, rememberedAs } from "../../base/remembered.ts";

const KEY = "gcopd-run-tags";
const schema = z.record(z.string(), z.array(z.string()));

/** Characters of a tag. */
export const LONGEST_TAG = 40;

type Tags = Readonly<Record<string, readonly string[]>>;

const stored = (): Tags => rememberedAs(KEY, schema, {});

/** By the run's id; a run without tags has no entry. */
export const useTags = create<{ tags: Tags }>(() => ({ tags: stored() }));

function put(change: (tags: Tags) => Tags): void {
  // Another tab may have given some since.
  const before = stored();
  const tags = change(Object.keys(before).length > 0 ? before : useTags.getState().tags);
  useTags.setState({ tags });
  remember(KEY, JSON.stringify(tags));
}

/** Keeps up with other tabs of this browser for as long as the page lives; returns the undo. */
export function followTags(): () => void {
  const read = (event: StorageEvent): void => {
    if (event.key === KEY) useTags.setState({ tags: stored() });
  };
  window.addEventListener("storage", read);
  return () => window.removeEventListener("storage", read);
}

export function addTag(run: string, text: string): void {
  const tag = text.trim().slice(0, LONGEST_TAG);
  if (tag === "") return;
  put((tags) => ({ ...tags, [run]: [...new Set([...(tags[run] ?? []), tag])].sort() }));
}

export function removeTag(run: string, tag: string): void {
  put(({ [run]: own = [], ...others }) => {
    const left = own.filter((each) => each !== tag);
    return left.length === 0 ? others : { ...others, [run]: left };
  });
}

/** A run that was removed takes its tags along. */
export const dropTags = (run: string): void => put(({ [run]: _gone, ...others }) => others);
