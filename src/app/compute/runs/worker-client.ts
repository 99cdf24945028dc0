/**
 * The worker that serves this page, asked with the token of its index. A worker that was started again has another
 * token: it is read again from the index, once for each refusal.
 */
import type { z } from "zod";
import { InputError } from "../../../core/errors.ts";
import { Files } from "../../../protocol/files.ts";
import type { TrainRequest } from "../../../protocol/job.ts";
import { LaunchScript, Printed } from "../../../protocol/launched-run.ts";
import { CheckSteps } from "../../../protocol/target.ts";
import {
  planAnswer as goldPathAnswer,
  simulatorAnswer,
  startAnswer,
  stepAnswer,
} from "../../../simulator/session-contract.ts";
import { reached, readAnswer, readRefusal, WorkerAway } from "../../data/files/read-answer.ts";
import { workerToken } from "../../data/worker-token.ts";
import type { Run } from "./run.ts";
import {
  deviceAnswer,
  inputAnswer,
  jobAnswer,
  jobsAnswer,
  launchAnswer,
  launchesAnswer,
  planAnswer,
  plannedAnswer,
  resultsAnswer,
  targetsAnswer,
} from "./worker-answers.ts";

/** The newest jobs are listed, so many at most. */
export const LISTED = 200;

/** `GET /api/jobs` of a path with its query: how messages call it. */
function routeOf(path: string, { method = "GET" }: RequestInit): string {
  return `${method} /api${path.split("?")[0]}`;
}

function sent(method: "POST" | "PATCH", body: object, signal?: AbortSignal): RequestInit {
  return {
    method,
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json" },
    ...(signal === undefined ? {} : { signal }),
  };
}

/** A run that has files on the worker's disk: a job, or one that it launched on a target. */
type OnDisk = Pick<Run, "id" | "where">;

const at = ({ id, where }: OnDisk): string => `/${where === "target" ? "launches" : "jobs"}/${id}`;

const session = (id: string): string => `/simulator/sessions/${id}`;

const page = {
  readToken: workerToken,
  fetch: (address: string, init: RequestInit): Promise<Response> => fetch(address, init),
};

/** The worker's API; each question throws what its request throws, and an InputError for an answer of another form. */
export class WorkerClient {
  #token: string | null = null;

  constructor(private readonly clients: typeof page) {}

  /** True where the page came from a worker that lets it ask. */
  servesPage(): boolean {
    this.#token ??= this.clients.readToken();
    return this.#token !== null;
  }

  /** Whether the worker has another token than the one it refused; other questions may have read that already. */
  async #readTokenAgain(refused: string | null): Promise<boolean> {
    const answer = await reached(this.clients.fetch("./", { cache: "no-store" }));
    // As src/worker/http/page.ts writes it: a parser of HTML would need a policy for Trusted Types.
    const found = /<meta name="gcopd-token" content="([^"]+)"/.exec(await reached(answer.text()))?.[1];
    if (found === undefined || found === refused) return false;
    this.#token = found;
    return true;
  }

  /**
   * One request to the API.
   *
   * @throws InputError with the worker's own line for a refusal; WorkerAway when it cannot be reached
   */
  async #ask(path: string, init: RequestInit = {}): Promise<Response> {
    if (!this.servesPage()) throw new InputError("no worker serves this page: start it with `npm start`");
    const send = () => {
      const headers = new Headers(init.headers);
      headers.set("Authorization", `Bearer ${this.#token}`);
      return reached(this.clients.fetch(`./api${path}`, { ...init, headers }));
    };
    const tried = this.#token;
    let answer = await send();
    if (answer.status === 401 && (await this.#readTokenAgain(tried))) answer = await send();
    if (answer.ok) return answer;
    throw readRefusal(routeOf(path, init), answer.status, await reached(answer.text()));
  }

  /** @throws InputError for an answer of another form, beside what `#ask` throws */
  async #asked<T>(schema: z.ZodType<T>, path: string, init: RequestInit = {}): Promise<T> {
    const answer = await this.#ask(path, init);
    return readAnswer(schema, routeOf(path, init), await reached(answer.text()));
  }

  async #blob(path: string, init: RequestInit = {}): Promise<Blob> {
    const answer = await this.#ask(path, init);
    return reached(answer.blob());
  }

  files = () => this.#asked(Files, "/files");
  device = () => this.#asked(deviceAnswer, "/device");
  simulator = async () => (await this.#asked(simulatorAnswer, "/simulator")).scienceworld;
  beginTask = (id: string, task: string) =>
    this.#asked(startAnswer, `${session(id)}/reset`, sent("POST", { task }));
  doAction = (id: string, action: string) =>
    this.#asked(stepAnswer, `${session(id)}/step`, sent("POST", { action }));
  renewSession = async (id: string) => void (await this.#ask(`${session(id)}/renew`, { method: "POST" }));
  /** `keepalive` asks while the page goes. */
  closeSession = async (id: string, init: Pick<RequestInit, "keepalive"> = {}) =>
    void (await this.#ask(session(id), { method: "DELETE", ...init }));
  taskPlan = (task: string) => this.#asked(goldPathAnswer, "/simulator/plan", sent("POST", { task }));
  jobs = async () => (await this.#asked(jobsAnswer, `/jobs?limit=${LISTED}`)).jobs;
  plan = (config: object, probe: boolean, signal: AbortSignal) =>
    this.#asked(planAnswer, "/plan", sent("POST", { config, probe }, signal));
  submit = (request: z.input<typeof TrainRequest>) => this.#asked(jobAnswer, "/jobs", sent("POST", request));
  act = (id: string, what: "stop" | "cancel") =>
    this.#asked(jobAnswer, `/jobs/${id}/${what}`, { method: "POST" });
  /** @param changes what it may take from now on; as before where a key is absent */
  resume = (id: string, changes?: { memory_limit_gib?: number; hours?: number }) =>
    this.#asked(
      jobAnswer,
      `/jobs/${id}/resume`,
      changes === undefined ? { method: "POST" } : sent("POST", changes),
    );
  rename = (id: string, title: string) => this.#asked(jobAnswer, `/jobs/${id}`, sent("PATCH", { title }));
  remove = async (id: string) => void (await this.#ask(`/jobs/${id}`, { method: "DELETE" }));
  /** @throws InputError too for a file that was changed since it was opened, which `fetch` does not tell apart */
  input = async (id: string, path: string, body: Blob, signal?: AbortSignal) => {
    try {
      return await this.#asked(inputAnswer, `/jobs/${id}/inputs?path=${encodeURIComponent(path)}`, {
        method: "PUT",
        body,
        signal,
      });
    } catch (error) {
      if (error instanceof WorkerAway)
        await body
          .slice(0, 1)
          .arrayBuffer()
          .catch(() => {
            throw new InputError("cannot be read any more: open it again", { file: path });
          });
      throw error;
    }
  };
  results = async (run: OnDisk) => (await this.#asked(resultsAnswer, `${at(run)}/results`)).files;
  file = (run: OnDisk, path: string, signal?: AbortSignal) =>
    this.#blob(
      `${at(run)}/results/file?path=${encodeURIComponent(path)}`,
      signal === undefined ? {} : { signal },
    );
  log = (run: OnDisk, tail?: number) =>
    this.#blob(`${at(run)}/log${tail === undefined ? "" : `?tail=${tail}`}`);
  /** @param follow whether the answer goes on with each event as it happens, until the job has ended */
  events = (id: string, after: string | null, follow: boolean, signal: AbortSignal) =>
    this.#ask(`/jobs/${id}/events?follow=${follow}`, {
      signal,
      ...(after === null ? {} : { headers: { "Last-Event-ID": after } }),
    });
  targets = () => this.#asked(targetsAnswer, "/targets");
  addTarget = (name: string, target: object, replace: boolean) =>
    this.#asked(targetsAnswer, "/targets", sent("POST", { name, target, replace }));
  checkTarget = async (name: string) =>
    (await this.#asked(CheckSteps, `/targets/${encodeURIComponent(name)}/check`, { method: "POST" })).steps;
  launches = async () => (await this.#asked(launchesAnswer, "/launches")).launches;
  /** @param title its name, where it has one */
  launch = (target: string, config: object, title?: string) =>
    this.#asked(launchAnswer, "/launches", sent("POST", { target, config, title }));
  renameLaunched = (id: string, title: string) =>
    this.#asked(launchAnswer, `/launches/${id}`, sent("PATCH", { title }));
  /** Measured on the target itself; with `kept` only what was measured before. */
  planThere = async (
    target: string,
    config: object,
    how: { kept: boolean; probe: boolean },
    signal: AbortSignal,
  ) =>
    (await this.#asked(plannedAnswer, "/launches/plan", sent("POST", { target, config, ...how }, signal)))
      .measured;
  script = (target: string, config: object) =>
    this.#asked(LaunchScript, "/launches/script", sent("POST", { target, config }));
  importLaunched = (target: string, folder: string) =>
    this.#asked(launchAnswer, "/launches/import", sent("POST", { target, folder }));
  actOnLaunched = (id: string, what: "stop" | "cancel") =>
    this.#asked(launchAnswer, `/launches/${id}/${what}`, { method: "POST" });
  /** @param changes another target, and options from now on; as before where a key is absent */
  resumeLaunched = (id: string, changes: { target?: string; cards?: number; hours?: number } = {}) =>
    this.#asked(launchAnswer, `/launches/${id}/resume`, sent("POST", changes));
  fetchLaunched = (id: string, checkpoints: boolean) =>
    this.#asked(launchAnswer, `/launches/${id}/fetch`, sent("POST", { checkpoints }));
  removeLaunched = async (id: string) => void (await this.#ask(`/launches/${id}`, { method: "DELETE" }));
  /** What an attempt printed, from a byte of it on. */
  printed = (id: string, attempt: number, from: number) =>
    this.#asked(Printed, `/launches/${id}/events?attempt=${attempt}&from=${from}`);
}

export const worker = new WorkerClient(page);
