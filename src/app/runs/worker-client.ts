/**
 * The worker that serves this page, asked with the token of its index. A worker that was started again has another
 * token: it is read again from the index, once for each refusal.
 */
import { InputError } from "../../core/errors.ts";
import type { RunState } from "./run.ts";

/** A job as the API gives it: see src/worker/job/job.ts. */
export interface Job {
  id: string;
  state: RunState;
  request: { kind: "train" | "score"; config?: string | Record<string, unknown>; title?: string };
  command: string[];
  attempt: number;
  message: string | null;
  created_at: string;
  ended_at: string | null;
}

export interface WorkerFiles {
  jobs: string;
  /** Folder that `--files` shares; null when none is. */
  shared: string | null;
  /** What stands for `gcopd` in a shell of its machine, and the variables that decide what it reads and computes on. */
  program: string[];
  environment: Record<string, string>;
  sample: { library: string; episodes: string; teacher: string; student: string; tokenizer: string } | null;
}

export interface WorkerPlan {
  total: number;
  items: { name: string; part: string; bytes: number }[];
  work: {
    episodes: number;
    decisions: number;
    epochs: number;
    steps: number;
    teacher_tokens: number | null;
    student_tokens: number | null;
    response_tokens: number | null;
  };
  device: { kind: "webgpu" | "cpu"; adapter: string | null };
  problem: string | null;
  /** What a probe measured; null where it cannot be known, absent where it was not asked for. */
  time?: WorkerTime | null;
}

/** Seconds of the whole run, and the calls that they were taken from. */
export interface WorkerTime {
  low: number;
  high: number;
  teacher: ProbedCall[];
  student: ProbedCall[];
}

export interface ProbedCall {
  sequences: number;
  tokens: number;
  seconds: number;
}

let token: string | null = null;

function tokenOf(page: Document): string | null {
  return page.querySelector<HTMLMetaElement>('meta[name="gcopd-token"]')?.content ?? null;
}

/** True where the page came from a worker that lets it ask. */
export function hasWorker(): boolean {
  token ??= tokenOf(document);
  return token !== null;
}

/** Whether the worker has another token now. */
async function readTokenAgain(): Promise<boolean> {
  const answer = await fetch("./", { cache: "no-store" });
  const found = tokenOf(new DOMParser().parseFromString(await answer.text(), "text/html"));
  if (found === null || found === token) return false;
  token = found;
  return true;
}

/**
 * One request to the API.
 *
 * @throws InputError with the worker's own line for a refusal; TypeError when it cannot be reached
 */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  if (!hasWorker()) throw new InputError("no worker serves this page: start it with `npm start`");
  const send = () =>
    fetch(`./api${path}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${token}` },
    });
  let answer = await send();
  if (answer.status === 401 && (await readTokenAgain())) answer = await send();
  if (answer.ok) return answer;
  const text = await answer.text();
  let error = `the worker answered ${answer.status}`;
  try {
    error = (JSON.parse(text) as { error: string }).error;
  } catch {
    // Not the API's own refusal.
  }
  throw new InputError(error);
}

async function asJson<T>(path: string, init?: RequestInit): Promise<T> {
  return (await (await ask(path, init)).json()) as T;
}

function post<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
  return asJson<T>(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    ...(signal === undefined ? {} : { signal }),
  });
}

export const worker = {
  files: () => asJson<WorkerFiles>("/files"),
  device: () => asJson<{ device: "webgpu" | "cpu"; message: string }>("/device"),
  jobs: async () => (await asJson<{ jobs: Job[] }>("/jobs?limit=200")).jobs,
  job: (id: string) => asJson<Job>(`/jobs/${id}`),
  plan: (config: object, probe: boolean, signal: AbortSignal) =>
    post<WorkerPlan>("/plan", { config, probe }, signal),
  submit: (request: object) => post<Job>("/jobs", request),
  act: (id: string, what: "stop" | "cancel" | "resume") =>
    asJson<Job>(`/jobs/${id}/${what}`, { method: "POST" }),
  rename: (id: string, title: string) =>
    asJson<Job>(`/jobs/${id}`, {
      method: "PATCH",
      body: JSON.stringify({ title }),
      headers: { "Content-Type": "application/json" },
    }),
  remove: async (id: string) => void (await ask(`/jobs/${id}`, { method: "DELETE" })),
  input: (id: string, path: string, body: Blob) =>
    asJson<{ path: string }>(`/jobs/${id}/inputs?path=${encodeURIComponent(path)}`, { method: "PUT", body }),
  results: async (id: string) =>
    (await asJson<{ files: { path: string; bytes: number }[] }>(`/jobs/${id}/results`)).files,
  file: (id: string, path: string) => ask(`/jobs/${id}/results/file?path=${encodeURIComponent(path)}`),
  log: (id: string, tail?: number) => ask(`/jobs/${id}/log${tail === undefined ? "" : `?tail=${tail}`}`),
  events: (id: string, after: string | null, signal: AbortSignal) =>
    ask(`/jobs/${id}/events`, { signal, ...(after === null ? {} : { headers: { "Last-Event-ID": after } }) }),
};
