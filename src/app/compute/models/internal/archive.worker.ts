/** The archive worker: one .zip is unpacked beside the drawing thread. */
import * as Comlink from "comlink";
import { installErrorTransfer } from "../../../base/worker/transfer.ts";
import { unpackZip } from "../../../data/files/zip-archive.ts";

installErrorTransfer();

const api = { unpackZip };

export type ArchiveApi = typeof api;

Comlink.expose(api);
