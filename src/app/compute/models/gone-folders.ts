/**
 * Models of the user's own that a reload has closed. A page cannot read a folder from the disk again by itself, so it
 * remembers for its tab what was open, and says what is gone.
 */
import { z } from "zod";
import { create } from "zustand";
import { remember, rememberedAs } from "../../base/remembered.ts";
import { withTokenizer } from "../../data/files/model-folder.ts";
import { ROLES, type Role, useUi } from "../store.ts";
import { modelDigest } from "./model-digest.ts";
import { type Opened, useOwnModels } from "./models.ts";

const goneSchema = z.object({
  name: z.string(),
  /** Its path below the folder that the worker shares, where it lies there. */
  shared: z.string().optional(),
  /** What it is known by where the browser keeps it; absent while that is not known. */
  digest: z.string().optional(),
});
const rememberedSchema = z.object({ teacher: goneSchema.nullable(), student: goneSchema.nullable() });

export type GoneFolder = z.infer<typeof goneSchema>;
type GoneFolders = Record<Role, GoneFolder | null>;

const NONE: GoneFolders = { teacher: null, student: null };
const KEY = "gcopd-own-models";

/** What the last reload closed, until the role has a model of the user's own again or the user has read it. */
export const useGoneFolders = create<GoneFolders>(() => NONE);

const digests = new WeakMap<Opened, string>();

function folderOf(role: Role): GoneFolder | null {
  const opened = useOwnModels.getState()[role];
  if (opened === null) return useGoneFolders.getState()[role];
  const { name, shared } = opened.folder;
  return { name, shared, digest: digests.get(opened) };
}

function note(): void {
  const folders: GoneFolders = { teacher: folderOf("teacher"), student: folderOf("student") };
  remember(KEY, JSON.stringify(folders), "tab");
}

/** Notes a model's digest, too. One on the worker's disk is found by its path. */
async function noteDigest(opened: Opened): Promise<void> {
  if (opened.folder.shared !== undefined) return;
  try {
    digests.set(opened, await modelDigest(withTokenizer(opened.folder, opened.tokenizer)));
    note();
  } catch {
    // A file that cannot be read is reported where the model is opened.
  }
}

/** The user needs no further word of it. */
export function dismissGone(role: Role): void {
  if (useGoneFolders.getState()[role] !== null) useGoneFolders.setState({ [role]: null });
}

/** Recalls what the reload has closed, and notes what is open for as long as the page lives. Returns the undo. */
export function followFolders(): () => void {
  useGoneFolders.setState(rememberedAs(KEY, rememberedSchema, NONE, "tab"));
  const leaveGone = useGoneFolders.subscribe(note);
  const leaveOwn = useOwnModels.subscribe((now, before) => {
    note();
    for (const role of ROLES) {
      const opened = now[role];
      if (opened !== null && opened !== before[role]) void noteDigest(opened);
    }
  });
  // Only once it is open: of one that cannot be opened, the one that was closed is still missing.
  const leaveUi = useUi.subscribe(({ models }) => {
    for (const role of ROLES) if ((models[role]?.origin ?? "sample") !== "sample") dismissGone(role);
  });
  return () => {
    leaveGone();
    leaveOwn();
    leaveUi();
  };
}
