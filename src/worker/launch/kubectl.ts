/**
 * kubectl of this machine, with the user's own credentials: its commands, and a shell in a pod. What `kubectl exec` prints
 * may end early although it exits with 0 (kubernetes issue 124571), so that every command ends with a line of its own, and
 * the connection is held open until that line was read.
 */
import { stat } from "node:fs/promises";
import { PassThrough, Readable, Transform, type Writable } from "node:stream";
import { onFile } from "../../node/file-error.ts";
import { type Answer, bytesOf, collect, type Shell, type Streams, Unreachable } from "./shell.ts";

export interface Cluster {
  /** Of the user's kubeconfig; its current one when absent. */
  kube_context?: string | undefined;
  /** The context's own when absent. */
  namespace?: string | undefined;
}

/** Longest wait for one answer of the API server. */
const WAIT = "--request-timeout=30s";

/** Runs `kubectl` in the target's context and namespace. @param input a manifest */
export function kubectl(cluster: Cluster, args: readonly string[], input = ""): Promise<Answer> {
  return collect("kubectl", [...at(cluster), WAIT, ...args], { input: { text: input } });
}

function at({ kube_context: context, namespace }: Cluster): string[] {
  return [
    ...(context === undefined ? [] : [`--context=${context}`]),
    ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
  ];
}

/** What is wrong and what to do, from what kubectl printed. */
export function kubectlProblem(printed: string): string {
  const said = printed.split("\n").findLast((line) => !/^E\d{4} /.test(line)) ?? "";
  if (/context was not found|context .* does not exist/.test(said))
    return "kubectl knows no such context: kubectl config get-contexts lists those it knows (kube_context)";
  if (/refused|Unable to connect|timed out|timeout|no such host/i.test(said))
    return `the cluster does not answer: check the network, the VPN, and kubectl cluster-info (${said})`;
  if (/Unauthorized|must be logged in|credentials/i.test(said))
    return `the cluster does not know you: log in again as your cluster has it (${said})`;
  if (/forbidden/i.test(said)) return `the cluster does not allow it: ask who runs it (${said})`;
  return said === "" ? "kubectl ended without a word" : said.replace(/^error: /, "");
}

/** Ends what a command printed: `gcopd-end CODE`. */
const END = "gcopd-end";

/**
 * Gives the command what it is to read, and no more: the end of the input is told by its length, since the connection stays
 * open. Where no length is given, the command reads the input itself. Then it says how the command ended, and waits until this side has heard it.
 */
const AROUND = `n=$1; shift; if [ -n "$n" ]; then head -c "$n" | "$@"; else "$@"; fi; printf '\\n${END} %s\\n' $?; cat > /dev/null`;

/** A shell in a container of a pod. @param ready comes back with the pod's name once it runs */
export function podShell(
  place: string,
  cluster: Cluster,
  container: string,
  ready: () => Promise<string>,
): Shell {
  return {
    place,
    async exec(args, { input, into, limit }: Streams = {}) {
      const pod = await ready();
      const text = input !== undefined && "text" in input ? input.text : "";
      const sent = input !== undefined && "file" in input ? input : null;
      const [path, until] = [sent?.file ?? null, sent?.until];
      const size = path === null ? Buffer.byteLength(text) : (await onFile(path, "read", stat(path))).size;
      const words = [
        "exec",
        "-i",
        pod,
        "-c",
        container,
        "--",
        "sh",
        "-c",
        AROUND,
        "sh",
        until === undefined ? String(size) : "",
        ...args,
      ];
      const stdin = new PassThrough();
      const out = untilEnd(into, () => stdin.end());
      const file = path === null ? null : Readable.from(bytesOf(path));
      file?.once("error", (error) => stdin.destroy(error));
      until?.throwIfAborted();
      until?.addEventListener(
        "abort",
        () => {
          file?.destroy();
          stdin.end();
        },
        { once: true },
      );
      if (file === null) stdin.write(text);
      else file.pipe(stdin, { end: false });
      try {
        const answer = await collect("kubectl", [...at(cluster), ...words], {
          input: { stream: stdin },
          into: out,
          ...(limit && { limit }),
        });
        const code = out.code();
        if (code === null)
          throw new Unreachable(
            `${place}: ${answer.code === 0 ? "the answer broke off" : kubectlProblem(answer.err)}`,
          );
        return { code, out: out.held(), err: answer.err };
      } finally {
        file?.destroy();
        stdin.destroy();
      }
    },
  };
}

/** Takes what a command prints up to its last line, which it keeps. */
function untilEnd(
  into: Writable | undefined,
  seen: () => void,
): Writable & { code: () => number | null; held: () => Uint8Array } {
  // Longer than the last line, which is not known for it before it has come.
  const most = END.length + 8;
  const pattern = new RegExp(`\\n${END} (\\d+)\\n$`);
  let [tail, code]: [Buffer, number | null] = [Buffer.alloc(0), null];
  const kept: Uint8Array[] = [];
  const stream = new Transform({
    transform(bytes: Buffer, _, done) {
      const all = Buffer.concat([tail, bytes]);
      const last = all.subarray(Math.max(0, all.length - most));
      const [line, value] = pattern.exec(last.toString("latin1")) ?? [];
      const before = all.subarray(0, all.length - (line ?? last).length);
      tail = line === undefined ? last : Buffer.alloc(0);
      if (line !== undefined) {
        code = Number(value);
        seen();
      }
      if (into === undefined) kept.push(before);
      else if (!into.write(before)) {
        into.once("drain", done);
        return;
      }
      done();
    },
  });
  stream.resume();
  return Object.assign(stream, { code: () => code, held: () => Buffer.concat(kept) });
}
