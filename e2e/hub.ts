/** A hub on this machine, for tests: the sample's models behind the hub's paths, weights from another origin. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

interface Sample {
  tokenizer: string;
  teacher: string;
}

const sample = JSON.parse(readFileSync("public/sample/manifest.json", "utf8")) as Sample;

const files = new Map<string, Buffer>([
  ...["config.json", "model.safetensors"].map(
    (name) => [name, readFileSync(`public/sample/${sample.teacher}/${name}`)] as const,
  ),
  ...["tokenizer.json", "tokenizer_config.json"].map(
    (name) => [name, readFileSync(`public/sample/${sample.tokenizer}/${name}`)] as const,
  ),
]);

const listen = async (answer: (request: IncomingMessage, response: ServerResponse) => void) => {
  const server = createServer((request, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

export class LocalHub {
  url = "";
  /** Where weights are redirected to. */
  weightsUrl = "";
  asked: string[] = [];
  /** Weights stand still after so many bytes of a connection. */
  holdAfter = Number.POSITIVE_INFINITY;
  wrongHash = false;
  readonly #servers: Server[] = [];
  readonly #held: ServerResponse[] = [];

  static readonly bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  static readonly weights = files.get("model.safetensors")!.length;

  async start(): Promise<void> {
    const weights = await listen((request, response) => this.#weights(request, response));
    const hub = await listen((request, response) => this.#hub(request, response));
    this.#servers.push(weights.server, hub.server);
    [this.url, this.weightsUrl] = [hub.url, weights.url];
  }

  /** Ends the connections that stand still, short of what they announced; no other one stands still after. */
  breakOff(): void {
    this.holdAfter = Number.POSITIVE_INFINITY;
    for (const response of this.#held.splice(0)) response.destroy();
  }

  close(): void {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  #hub({ url = "" }: IncomingMessage, response: ServerResponse): void {
    this.asked.push(url);
    if (url.startsWith("/api/models/owner/model/revision/")) {
      const siblings = [...files].map(([rfilename, bytes]) => ({
        rfilename,
        size: bytes.length,
        ...(rfilename.endsWith(".safetensors") && {
          lfs: {
            sha256: this.wrongHash ? "0".repeat(64) : createHash("sha256").update(bytes).digest("hex"),
          },
        }),
      }));
      return void response.end(JSON.stringify({ sha: COMMIT, siblings }));
    }
    const name = url.replace(`/owner/model/resolve/${COMMIT}/`, "");
    const content = files.get(name);
    if (content === undefined) return void response.writeHead(404).end();
    if (name.endsWith(".safetensors"))
      return void response.writeHead(302, { Location: `${this.weightsUrl}/cdn/${name}?signed` }).end();
    response.end(content);
  }

  #weights({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    this.asked.push(`weights${headers.range ? ` ${headers.range}` : ""}`);
    const content = files.get(url.replace(/^\/cdn\/|\?.*$/g, ""));
    if (content === undefined) return void response.writeHead(404).end();
    const start = Number(/bytes=(\d+)-/.exec(headers.range ?? "")?.[1] ?? 0);
    const rest = content.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, { "Content-Length": rest.length });
    if (rest.length <= this.holdAfter) return void response.end(rest);
    response.write(rest.subarray(0, this.holdAfter));
    this.#held.push(response);
  }
}
