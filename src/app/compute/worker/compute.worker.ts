/** The compute worker: `ComputeApi` behind comlink. */
import "../../base/without-eval.ts";
import * as Comlink from "comlink";
import { installErrorTransfer } from "../../base/worker/transfer.ts";
import { ComputeApi } from "./compute-api.ts";
import { ComputeService } from "./compute-service.ts";

installErrorTransfer();

Comlink.expose(new ComputeApi(new ComputeService()));
