/**
 * The hub worker: `HubService` behind comlink, with the origin-private file system as its cache. A worker of its own,
 * since files there are written through sync access handles, and a download goes on whatever the others do.
 */
import "../../../base/without-eval.ts";
import * as Comlink from "comlink";
import { InputError } from "../../../../core/errors.ts";
import { OriginCache } from "../../../../engine/hub/index.ts";
import { installErrorTransfer } from "../../../base/worker/transfer.ts";
import { hubFetch } from "./hub-fetch.ts";
import { HubService } from "./hub-service.ts";

installErrorTransfer();

async function openCache(): Promise<OriginCache> {
  if (navigator.storage?.getDirectory === undefined)
    throw new InputError("this browser has no private file system for pages: open a folder instead");
  const root = await navigator.storage.getDirectory();
  return new OriginCache(await root.getDirectoryHandle("hub", { create: true }));
}

Comlink.expose(new HubService({ openCache, fetch: hubFetch }));
