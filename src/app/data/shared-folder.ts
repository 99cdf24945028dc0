/** The folder of the worker's disk that it shares with the page: `gcopd worker --files FOLDER`. */
import { InputError } from "../../core/errors.ts";
import type { SharedList } from "../../protocol/files.ts";
import { listSharedFolder, type SharedSource } from "./files/shared-files.ts";
import { workerToken } from "./worker-token.ts";

/** Whether a worker serves this page, and so might share a folder. */
export const hasWorker = (): boolean => workerToken() !== null;

/** Where the files are, and the token for them. `InputError` for a page that no worker serves. */
export function sharedFolder(): SharedSource {
  const token = workerToken();
  if (token === null)
    throw new InputError(
      "this page is not served by a worker: start `gcopd worker --files FOLDER` and open its page",
    );
  const at = (path: string): string => new URL(path, location.href).href;
  return { list: at("/api/shared"), content: at("/api/shared/content/"), token };
}

/** The entries of a folder below the shared one. `InputError` with the worker's own line when it refuses. */
export async function listShared(path: string): Promise<SharedList> {
  return listSharedFolder(sharedFolder(), path);
}
