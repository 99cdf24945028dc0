/**
 * Stands for slurmrestd: answers in the words of two versions of its API, as 22.05 (0.0.38) and 24.11 (0.0.42) gave them,
 * and has the programs of launch-bin start and end the jobs.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export interface FakeSlurmRest {
  url: string;
  /** Names of the programs' environment that each job was given, and what else was asked. */
  submitted: Record<string, unknown>[];
  /** Requests, as `METHOD PATH`. */
  requests: string[];
  /** Does the next submission, and gives no answer to it. */
  loseAnswer: boolean;
  close(): Promise<void>;
}

/** The token that it takes: `sun` and `exp` are what Slurm writes. */
export function fakeToken(user: string, expires = 4_000_000_000): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "HS256", typ: "JWT" })}.${part({ exp: expires, iat: 1_795_473_444, sun: user })}.c2lnbmF0dXJl`;
}

/**
 * @param folder that of the fake Slurm, as `$FAKE_SLURM` has it
 * @param version of the API
 */
export async function startFakeSlurmRest(
  folder: string,
  { version = "v0.0.42", user = "me" } = {},
): Promise<FakeSlurmRest> {
  const old = version === "v0.0.38";
  const fake: FakeSlurmRest = { url: "", submitted: [], requests: [], loseAnswer: false, close: stop };
  const errors = (number: number, error: string) => ({
    errors: [{ error_number: number, error, description: "", source: "slurm" }],
  });
  const whole = (number: number) => (old ? number : { set: number > 0, infinite: false, number });

  function job(id: string) {
    const at = (name: string) => join(folder, "jobs", id, name);
    // The programs see what ended, or may start.
    execFileSync("squeue", ["--name", readFileSync(at("name"), "utf8").trim(), "-o", "%T"]);
    const state = (readFileSync(at("state"), "utf8").split(" ")[0] ?? "").trim();
    return {
      job_id: Number(id),
      name: readFileSync(at("name"), "utf8").trim(),
      user_name: existsSync(at("user_name")) ? readFileSync(at("user_name"), "utf8").trim() : user,
      job_state: old ? state : [state],
      state_reason: state === "PENDING" ? "Resources" : "None",
      start_time: whole(state === "PENDING" ? 1_796_119_200 : 1_795_473_520),
    };
  }
  const ids = () => (existsSync(join(folder, "jobs")) ? readdirSync(join(folder, "jobs")) : []);

  function submit(body: { script: string; job: Record<string, unknown> }): [number, object] {
    const { gres, tres_per_node: tres, name } = body.job;
    if (/:9$/.test(String(gres ?? tres)))
      return [500, errors(2014, "Requested node configuration is not available")];
    fake.submitted.push(body.job);
    const file = join(folder, "submitted.sh");
    writeFileSync(file, body.script);
    const id = execFileSync("sbatch", ["--job-name", String(name), file], { encoding: "utf8" }).trim();
    return [200, { errors: [], job_id: Number(id), step_id: "BATCH", job_submit_user_msg: "" }];
  }

  async function answer(request: IncomingMessage): Promise<[number, object | string]> {
    if (request.url === "/openapi/v3") return [200, { paths: { [`/slurm/${version}/job/submit`]: {} } }];
    if (request.headers["x-slurm-user-token"] !== fakeToken(user)) return [401, "Authentication failure"];
    const [, what = "", id = ""] =
      new RegExp(`^/slurm/${version}/(jobs|job/submit|job|ping|partition)/?(.*)$`).exec(request.url ?? "") ??
      [];
    if (existsSync(join(folder, "down")))
      return [500, errors(1, "Unable to contact slurm controller (connect failure)")];
    if (what === "job/submit") return submit(JSON.parse(await text(request)));
    if (what === "jobs") return [200, { errors: [], jobs: ids().map(job) }];
    if (what === "ping") return [200, { errors: [] }];
    if (what === "partition")
      return id === "gpu" ? [200, { errors: [] }] : [500, errors(2000, "Invalid partition name specified")];
    if (what === "job" && !ids().includes(id)) return [500, errors(2017, "Invalid job id specified")];
    if (what === "job" && request.method === "GET") return [200, { errors: [], jobs: [job(id)] }];
    if (what === "job" && request.method === "DELETE") {
      execFileSync("scancel", ["--name", job(id).name]);
      return [200, { errors: [] }];
    }
    return [404, "Unable find requested URL. Please view /openapi/v3 for API reference."];
  }

  const server = createServer(async (request, response) => {
    fake.requests.push(`${request.method} ${request.url}`);
    const [status, body] = await answer(request);
    if (fake.loseAnswer && request.method === "POST") {
      fake.loseAnswer = false;
      response.destroy();
      return;
    }
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  async function stop(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  fake.url = `http://127.0.0.1:${address.port}`;
  return fake;
}
