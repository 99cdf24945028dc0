/** The folder of the worker's disk that it shares with the page: `gcopd worker --files FOLDER`. */
import { z } from "zod/mini";
import { InputError } from "../../core/errors.ts";

const listSchema = z.object({
  path: z.string(),
  entries: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(["file", "folder"]),
      bytes: z.nullable(z.number()),
      modified_at: z.string(),
    }),
  ),
  more: z.number(),
});

export type SharedList = z.infer<typeof listSchema>;

/** Whether a worker serves this page, and so might share a folder. */
export const hasWorker = (): boolean => workerToken() !== null;

function workerToken(): string | null {
  if (typeof document === "undefined") return null;
  return document.querySelector<HTMLMetaElement>('meta[name="gcopd-token"]')?.content ?? null;
}

/** Where the files are, and the token for them. `InputError` for a page that no worker serves. */
export function sharedFolder(): { content: string; token: string } {
  const token = workerToken();
  if (token === null)
    throw new InputError(
      "this page is not served by a worker: start `gcopd worker --files FOLDER` and open its page",
    );
  return { content: new URL("/api/shared/content/", location.href).href, token };
}

/** The entries of a folder below the shared one. `InputError` with the worker's own line when it refuses. */
export async function listShared(path: string): Promise<SharedList> {
  const { token } = sharedFolder();
  let response: Response;
  try {
    response = await fetch(`/api/shared?path=${encodeURIComponent(path)}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
  } catch {
    throw new InputError("the worker does not answer: is it still running?");
  }
  const answer: unknown = await response.json().catch(() => null);
  if (response.status === 401)
    throw new InputError("the worker has been started anew since this page was opened: open the page again");
  if (!response.ok) {
    const { error } = (answer ?? {}) as { error?: unknown };
    throw new InputError(typeof error === "string" ? error : `the worker answered ${response.status}`);
  }
  const parsed = listSchema.safeParse(answer);
  if (!parsed.success)
    throw new InputError("the worker's list of files is not one: is it of another version?");
  return parsed.data;
}
