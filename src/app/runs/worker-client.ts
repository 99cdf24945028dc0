/**
 * The worker that serves this page, asked with the token of its index. A worker that was started again has another
 * token: it is read again from the index, once for each refusal.
 */
import type { z } from "zod";
import { InputError } from "../../core/errors.ts";
import {
  planAnswer as goldPathAnswer,
  simulatorAnswer,
  startAnswer,
  stepAnswer,
} from "../../simulator/session-contract.ts";
import { readAnswer, readRefusal } from "../library/read-answer.ts";
import {
  deviceAnswer,
  filesAnswer,
  inputAnswer,
  jobAnswer,
  jobsAnswer,
  planAnswer,
  resultsAnswer,
} from "./worker-answers.ts";

let token: string | null = null;

/** True where the page came from a worker that lets it ask. */
export function hasWorker(): boolean {
  token ??= document.querySelector<HTMLMetaElement>('meta[name="gcopd-token"]')?.content ?? null;
  return token !== null;
}

/** Whether the worker has another token now. */
async function readTokenAgain(): Promise<boolean> {
  const answer = await fetch("./", { cache: "no-store" });
  // As src/worker/http/page.ts writes it: a parser of HTML would need a policy for Trusted Types.
  const found = /<meta name="gcopd-token" content="([^"]+)"/.exec(await answer.text())?.[1];
  if (found === undefined || found === token) return false;
  token = found;
  return true;
}

/** `GET /api/jobs` of a path with its query: how messages call it. */
function routeOf(path: string, { method = "GET" }: RequestInit): string {
  return `${method} /api${path.split("?")[0]}`;
}

/**
 * One request to the API.
 *
 * @throws InputError with the worker's own line for a refusal; TypeError when it cannot be reached
 */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  if (!hasWorker()) throw new InputError("no worker serves this page: start it with `npm start`");
  const send = () => {
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${token}`);
    return fetch(`./api${path}`, { ...init, headers });
  };
  let answer = await send();
  if (answer.status === 401 && (await readTokenAgain())) answer = await send();
  if (answer.ok) return answer;
  throw readRefusal(routeOf(path, init), answer.status, await answer.text());
}

/** @throws InputError for an answer that has not the form, beside what `ask` throws */
async function asked<T>(schema: z.ZodType<T>, path: string, init: RequestInit = {}): Promise<T> {
  return readAnswer(schema, routeOf(path, init), await (await ask(path, init)).text());
}

function sent(method: "POST" | "PATCH", body: object, signal?: AbortSignal): RequestInit {
  return {
    method,
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    ...(signal === undefined ? {} : { signal }),
  };
}

const session = (id: string): string => `/simulator/sessions/${id}`;

export const worker = {
  files: () => asked(filesAnswer, "/files"),
  device: () => asked(deviceAnswer, "/device"),
  simulator: async () => (await asked(simulatorAnswer, "/simulator")).scienceworld,
  beginTask: (id: string, task: string) => asked(startAnswer, `${session(id)}/reset`, sent("POST", { task })),
  doAction: (id: string, action: string) =>
    asked(stepAnswer, `${session(id)}/step`, sent("POST", { action })),
  renewSession: async (id: string) => void (await ask(`${session(id)}/renew`, { method: "POST" })),
  /** `keepalive` asks while the page goes. */
  closeSession: async (id: string, init: Pick<RequestInit, "keepalive"> = {}) =>
    void (await ask(session(id), { method: "DELETE", ...init })),
  taskPlan: (task: string) => asked(goldPathAnswer, "/simulator/plan", sent("POST", { task })),
  jobs: async () => (await asked(jobsAnswer, "/jobs?limit=200")).jobs,
  plan: (config: object, probe: boolean, signal: AbortSignal) =>
    asked(planAnswer, "/plan", sent("POST", { config, probe }, signal)),
  submit: (request: object) => asked(jobAnswer, "/jobs", sent("POST", request)),
  act: (id: string, what: "stop" | "cancel") => asked(jobAnswer, `/jobs/${id}/${what}`, { method: "POST" }),
  /** @param limitGib memory that it may take from now on; as before when absent */
  resume: (id: string, limitGib?: number) =>
    asked(
      jobAnswer,
      `/jobs/${id}/resume`,
      limitGib === undefined ? { method: "POST" } : sent("POST", { memory_limit_gib: limitGib }),
    ),
  rename: (id: string, title: string) => asked(jobAnswer, `/jobs/${id}`, sent("PATCH", { title })),
  remove: async (id: string) => void (await ask(`/jobs/${id}`, { method: "DELETE" })),
  input: (id: string, path: string, body: Blob, signal?: AbortSignal) =>
    asked(inputAnswer, `/jobs/${id}/inputs?path=${encodeURIComponent(path)}`, {
      method: "PUT",
      body,
      signal,
    }),
  results: async (id: string) => (await asked(resultsAnswer, `/jobs/${id}/results`)).files,
  file: (id: string, path: string, signal?: AbortSignal) =>
    ask(`/jobs/${id}/results/file?path=${encodeURIComponent(path)}`, signal === undefined ? {} : { signal }),
  log: (id: string, tail?: number) => ask(`/jobs/${id}/log${tail === undefined ? "" : `?tail=${tail}`}`),
  events: (id: string, after: string | null, signal: AbortSignal) =>
    ask(`/jobs/${id}/events`, { signal, ...(after === null ? {} : { headers: { "Last-Event-ID": after } }) }),
};
