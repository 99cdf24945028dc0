/** The archive worker: one .zip is unpacked beside the drawing thread. */
import * as Comlink from "comlink";
import { unpackZip } from "../library/zip-archive.ts";
import { installErrorTransfer } from "./transfer.ts";

installErrorTransfer();

const api = { unpackZip };

export type ArchiveApi = typeof api;

Comlink.expose(api);
