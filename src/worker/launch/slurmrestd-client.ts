/** One slurmrestd. Its token is read from the environment for each request, and is neither kept nor shown. */
import { request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { Unreachable } from "./shell.ts";
import { API_VERSIONS, type ApiVersion } from "./slurmrestd-job.ts";

/** The variable that `scontrol token` prints, and Slurm's own programs read. */
export const TOKEN_VARIABLE = "SLURM_JWT";

const TIMEOUT_MS = 60_000;

const claimsSchema = z.looseObject({ sun: z.string().optional(), exp: z.number().optional() });
const openapiSchema = z.looseObject({ paths: z.record(z.string(), z.unknown()) });
const errorsSchema = z.looseObject({
  errors: z
    .array(
      z.looseObject({
        error: z.string().nullish(),
        description: z.string().nullish(),
        error_number: z.number().nullish(),
        error_code: z.number().nullish(),
        errno: z.number().nullish(),
      }),
    )
    .nullish(),
});

/** Versions that were found, by address: the description of the API is long. */
const found = new Map<string, ApiVersion>();

export class SlurmRest {
  /** @param url `http://HOST:PORT`, `https://…`, or `unix:/PATH` of a socket of this machine */
  constructor(readonly url: string) {}

  /** The user that the token names; null where it names none in Slurm's way. */
  get user(): string | null {
    return claimsOf(token()).sun ?? null;
  }

  /** The newest version that both sides know. @throws InputError that names those of the server when there is none */
  async version(): Promise<ApiVersion> {
    const known = found.get(this.url);
    if (known !== undefined) return known;
    const { status, text } = await this.#send("GET", "/openapi/v3");
    if (status !== 200) throw this.#fault(status, text);
    const { paths } = this.#parsed(openapiSchema, text, "a description of Slurm's API");
    const its = Object.keys(paths).flatMap(
      (path) => /^\/slurm\/(v[\d.]+)\/job\/submit/.exec(path)?.[1] ?? [],
    );
    const version = API_VERSIONS.find((each) => its.includes(each));
    if (version === undefined)
      throw new InputError(
        `${this.url}: it has ${its.length === 0 ? "no API for jobs" : `the API ${[...new Set(its)].join(", ")}`}; gcopd knows ${API_VERSIONS.join(", ")}`,
      );
    found.set(this.url, version);
    return version;
  }

  /**
   * One request below `/slurm/VERSION/`.
   *
   * @param none numbers of Slurm's errors for which there is no answer, null
   * @throws Unreachable when there was no answer; InputError with Slurm's reason when it refused
   */
  async ask<T>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    schema: z.ZodType<T>,
    none: readonly number[] = [],
    body?: (version: ApiVersion) => Promise<object>,
  ): Promise<T | null> {
    const version = await this.version();
    const sent = body === undefined ? undefined : JSON.stringify(await body(version));
    const { status, text } = await this.#send(method, `/slurm/${version}/${path}`, sent);
    const { errors } = errorsSchema.safeParse(jsonOf(text)).data ?? {};
    const numbers = errors?.map((each) => each.error_number ?? each.error_code ?? each.errno) ?? [];
    if (numbers.some((number) => number != null && none.includes(number))) return null;
    // A release that no longer has the version: the next request finds another.
    if (status === 404 && numbers.length === 0) found.delete(this.url);
    if (status !== 200 || numbers.length > 0) throw this.#fault(status, text);
    return this.#parsed(schema, text, `Slurm's answer to ${path}`);
  }

  #parsed<T>(schema: z.ZodType<T>, text: string, what: string): T {
    const checked = schema.safeParse(jsonOf(text));
    if (checked.success) return checked.data;
    const [issue] = checked.error.issues;
    throw new Unreachable(`${this.url}: expected ${what}: ${issue?.path.join(".")}: ${issue?.message}`);
  }

  #fault(status: number, text: string): InputError {
    const { exp } = claimsOf(token());
    if (exp !== undefined && 1000 * exp < Date.now())
      return new InputError(
        `${this.url}: the token of ${TOKEN_VARIABLE} ran out at ${new Date(1000 * exp).toISOString()}: make another (scontrol token) and start again with it`,
      );
    const { errors = [] } = errorsSchema.safeParse(jsonOf(text)).data ?? {};
    const said = errors
      ?.flatMap(({ error, description }) => [error, description])
      .find((each) => each != null && each !== "" && each !== "Unspecified error");
    if (status === 401 || status === 403 || /authentication/i.test(said ?? ""))
      return new InputError(
        `${this.url}: the token of ${TOKEN_VARIABLE} is refused: make another (scontrol token)`,
      );
    return new InputError(`${this.url}: ${said ?? `status ${status}: ${text.trim().slice(0, 300)}`}`);
  }

  #send(method: string, path: string, body?: string): Promise<{ status: number; text: string }> {
    const secret = token();
    const { sun: user } = claimsOf(secret);
    const [, socketPath] = /^unix:(.*)$/.exec(this.url) ?? [];
    const options = {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        "X-SLURM-USER-TOKEN": secret,
        ...(user !== undefined && { "X-SLURM-USER-NAME": user }),
        ...(body !== undefined && {
          "Content-Type": "application/json",
          "Content-Length": Buffer.byteLength(body),
        }),
      },
    };
    return new Promise((resolve, reject) => {
      const gone = (error: Error) => reject(new Unreachable(`${this.url} does not answer: ${error.message}`));
      const address = new URL(
        `${socketPath === undefined ? this.url.replace(/\/+$/, "") : "http://localhost"}${path}`,
      );
      const send = address.protocol === "https:" ? overHttps : overHttp;
      const call = send(
        address,
        { ...options, ...(socketPath !== undefined && { socketPath }) },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => {
            text += part;
          });
          response.once("error", gone);
          response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      call.once("error", gone);
      call.end(body);
    });
  }
}

/** @throws InputError when there is none */
function token(): string {
  const text = process.env[TOKEN_VARIABLE]?.trim() ?? "";
  if (/^[\w.~+/=-]+$/.test(text)) return text;
  throw new InputError(
    text === ""
      ? `${TOKEN_VARIABLE} is not set, which slurmrestd wants: export the token of your cluster (scontrol token) before you start gcopd`
      : `${TOKEN_VARIABLE} is no token: expected what stands after "${TOKEN_VARIABLE}=" in the answer of scontrol token`,
  );
}

/** What a JSON Web Token says of itself; nothing for another kind of token. */
function claimsOf(secret: string): z.infer<typeof claimsSchema> {
  const text = Buffer.from(secret.split(".")[1] ?? "", "base64url").toString();
  return claimsSchema.safeParse(jsonOf(text)).data ?? {};
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
