/** Models of the hub by name: looked up, brought into the browser's storage, opened from there, removed. */
import * as Comlink from "comlink";
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import { untilAborted } from "../../../core/until-aborted.ts";
import { type CachedModel, DEFAULT_ENDPOINT, type HubName, parseHubName } from "../../../engine/hub/index.ts";
import { checkAddress } from "../../base/address.ts";
import type { Range } from "../../base/eta.ts";
import { describeFault, isAbort } from "../../base/faults.ts";
import { hubWorker } from "../clients.ts";
import { checkAtRest } from "../computing.ts";
import { models } from "../models/models.ts";
import { ROLES, type Role } from "../store.ts";
import type { HubListing, HubProgress } from "./internal/hub-service.ts";
import { howToAllow, mayContact } from "./internal/page-policy.ts";
import { TransferRate } from "./internal/transfer-rate.ts";

/** Bytes that the browser lets this page store, and those in use; null where it does not say. */
export interface StorageRoom {
  quota: number;
  usage: number;
}

interface HubState {
  /** The role that a model is chosen for; null while the dialog is closed. */
  role: Role | null;
  /** As typed: `OWNER/NAME` or `OWNER/NAME@REVISION`. */
  name: string;
  endpoint: string;
  looking: boolean;
  /** What the hub answered, until something else is typed. */
  listing: HubListing | null;
  download: (HubProgress & { label: string; eta: Range | null; stopping: boolean }) | null;
  /** What is kept in this browser; null until it was read once. */
  models: readonly CachedModel[] | null;
  /** It is being read. */
  reading: boolean;
  room: StorageRoom | null;
  /** False where the browser may remove what is kept when the disk runs low; null while nobody asked. */
  persistent: boolean | null;
  problem: string | null;
}

export const useHub = create<HubState>(() => ({
  role: null,
  name: "",
  endpoint: DEFAULT_ENDPOINT,
  looking: false,
  listing: null,
  download: null,
  models: null,
  reading: false,
  room: null,
  persistent: null,
  problem: null,
}));

const set = useHub.setState;
const get = useHub.getState;

/** Another name or hub is typed: what was found was of the one before. */
export function typeHub(change: Partial<Pick<HubState, "name" | "endpoint">>): void {
  set({ ...change, listing: null, problem: null });
}

export function openHub(role: Role): void {
  set({ role, problem: null });
  void refresh();
}

export function closeHub(): void {
  set({ role: null });
}

/** `OWNER/NAME[@REVISION]` as typed, or a model's address at the hub. */
export function typedName(text: string, endpoint: string): HubName {
  const bare = text.trim().replace(/^hub:/, "");
  const from = `${endpoint.replace(/\/+$/, "")}/`;
  const name = bare.startsWith(from) ? bare.slice(from.length).replace(/\/+$/, "") : bare;
  return parseHubName(`hub:${name}`)!;
}

/** A model as the list calls it, beside its commit: with the branch or tag that led to it, where that is not `main`. */
export function cachedName({ repository, revisions }: CachedModel): string {
  return revisions.length === 0 || revisions.includes("main") ? repository : `${repository}@${revisions[0]}`;
}

/** The role that a kept model has now. */
export function roleOf(model: CachedModel): Role | null {
  return ROLES.find((role) => models.opened(role)?.folder.name === folderName(model)) ?? null;
}

/** Names the commit, since two of one model may be kept. */
function folderName({ repository, commit }: CachedModel): string {
  return `${repository}@${commit.slice(0, 12)}`;
}

/** Reads again what is kept and how much room there is. */
export async function refresh(): Promise<void> {
  set({ reading: true });
  try {
    const models = await hubWorker().list();
    const { quota, usage } = await navigator.storage.estimate();
    const persistent = (await navigator.storage.persisted?.()) ?? false;
    set({
      models,
      room: quota === undefined || usage === undefined ? null : { quota, usage },
      persistent: models.length > 0 ? persistent : null,
    });
  } catch (error) {
    set({ problem: describeFault(error) });
  } finally {
    set({ reading: false });
  }
}

/** Asks the hub for the files of the typed model: nothing is stored yet. */
export async function lookUp(): Promise<void> {
  const { name: text, endpoint: address, looking, download } = get();
  if (looking || download !== null) return;
  set({ looking: true, listing: null, problem: null });
  try {
    const endpoint = checkAddress(address).replace(/\/+$/, "");
    const name = typedName(text, endpoint);
    const { origin } = new URL(endpoint);
    if (!mayContact(origin)) throw new InputError(howToAllow(origin));
    set({ listing: await hubWorker().look(name, endpoint) });
    await refresh();
  } catch (error) {
    set({ problem: isAbort(error) ? null : describeFault(error) });
  } finally {
    set({ looking: false });
  }
}

/** Ends the question to the hub. */
export function stopLookUp(): void {
  if (get().looking) stop();
}

function stop(): void {
  // What is stopped says why a worker could not start.
  hubWorker()
    .stop()
    .catch(() => undefined);
}

/** Why a download cannot fit into the browser's storage; null where it can, or nobody knows. */
export function lackOfRoom(bytes: number, room: StorageRoom | null): string | null {
  if (room === null || bytes <= room.quota - room.usage) return null;
  const free = Math.max(0, room.quota - room.usage);
  return `it needs ${gigabytes(bytes)} more, and this browser lets the page store ${gigabytes(free)} more: remove kept models, free space on the disk, or open a folder from the disk instead`;
}

/** `1.50 GB`, `63 MB`, `900 kB`: decimal, as the hub and disks count. */
export function gigabytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`;
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
  return `${Math.ceil(bytes / 1e3)} kB`;
}

/** Brings the model that was looked up, and opens it in the dialog's role. */
export async function download(): Promise<void> {
  const { listing } = get();
  if (listing !== null) await bring(listing);
}

/** Resumes a partly downloaded model, from the hub that the dialog names. */
export async function goOn(model: CachedModel): Promise<void> {
  const { repository, commit, files, bytes } = model;
  const { endpoint } = get();
  const { origin } = new URL(endpoint);
  if (!mayContact(origin)) return set({ problem: howToAllow(origin) });
  // A revision that is a commit needs no list: its files were listed when the download began.
  await bring({ name: { repository, revision: commit }, commit, files, bytes, endpoint, have: model.have });
}

/** Aborts what comes before a download: the browser may be asking the user whether the files may be kept. */
let preparing = new AbortController();

async function bring(listing: HubListing): Promise<void> {
  if (get().download !== null) return;
  const { role } = get();
  const { name, commit, files, bytes } = listing;
  const label = name.repository;
  const from = { file: "", what: "downloading", done: listing.have, total: bytes } as const;
  set({ problem: null, download: { ...from, label, eta: null, stopping: false } });
  preparing = new AbortController();
  const { signal } = preparing;
  const rate = new TransferRate();
  let isOver = false;
  try {
    const { quota, usage } = await navigator.storage.estimate();
    const room = quota === undefined || usage === undefined ? null : { quota, usage };
    const lack = lackOfRoom(bytes - listing.have, room);
    if (lack !== null) throw new InputError(`${name.repository}: ${lack}`);
    // Asked once something is to be kept. A browser that says no may remove it when the disk runs low; the dialog says so.
    const asked = navigator.storage.persist?.() ?? Promise.resolve(false);
    set({ persistent: await untilAborted(signal, asked) });
    await hubWorker().bring(
      { name, commit, files, bytes, endpoint: listing.endpoint },
      Comlink.proxy((progress: HubProgress) => {
        // The last words of a worker may arrive after its answer.
        if (isOver) return;
        const eta = rate.remaining(progress.done, progress.total, performance.now() / 1000);
        set(({ download: now }) => (now === null ? {} : { download: { ...now, ...progress, eta } }));
      }),
    );
  } catch (error) {
    set({ problem: isAbort(error) ? null : describeFault(error) });
    return await refresh();
  } finally {
    isOver = true;
    set({ download: null });
  }
  // Another download may begin from here on.
  set({ listing: null });
  await refresh();
  const kept = get().models?.find((model) => model.commit === commit && model.repository === label);
  if (kept !== undefined && role !== null) await openCached(kept, role);
}

/** Ends a download; what came is kept. */
export function stopDownload(): void {
  set(({ download: now }) => (now === null ? {} : { download: { ...now, stopping: true } }));
  preparing.abort();
  stop();
}

/** Opens a model that is kept whole. Nobody is contacted. */
export async function openCached(model: CachedModel, role: Role): Promise<void> {
  try {
    checkAtRest("open another one");
    const files = await hubWorker().files(model);
    closeHub();
    await models.open(role, { name: folderName(model), files });
  } catch (error) {
    set({ problem: describeFault(error) });
  }
}

/** Takes a kept model away; one that has a role stays, since its files are read again when it is reopened. */
export async function remove(model: CachedModel): Promise<void> {
  const role = roleOf(model);
  try {
    if (role !== null)
      throw new InputError(`it is the ${role} now: open another ${role} first`, { file: model.repository });
    await hubWorker().remove(model);
    set({ problem: null });
  } catch (error) {
    set({ problem: describeFault(error) });
  }
  await refresh();
}
