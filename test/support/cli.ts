/** The command line under test: in this process with its output caught, or bundled and in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import * as esbuild from "esbuild";
import { vi } from "vitest";
import { rawPlugin } from "../../scripts/build.mjs";
import { main } from "../../src/cli/main.ts";

const ROOT = resolve(import.meta.dirname, "../..");

export interface CliResult {
  code: number;
  out: string;
  err: string;
}

/** Keeps what this process writes on its standard streams, until `release`. */
export function keepStreams(): { out: string; err: string; release: () => void } {
  const into = (name: "out" | "err") =>
    ((chunk: Uint8Array | string, ...rest: unknown[]) => {
      kept[name] += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
      const done = rest.at(-1);
      if (typeof done === "function") done();
      return true;
    }) as typeof process.stdout.write;
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(into("out")),
    vi.spyOn(process.stderr, "write").mockImplementation(into("err")),
  ];
  const kept = { out: "", err: "", release: () => spies.forEach((spy) => void spy.mockRestore()) };
  return kept;
}

/** Runs one command line in this process. */
export async function runCli(...args: string[]): Promise<CliResult> {
  const streams = keepStreams();
  const before = process.exitCode;
  try {
    const code = await main(args);
    return { code, out: streams.out, err: streams.err };
  } finally {
    process.exitCode = before;
    streams.release();
  }
}

/** Bundles the command line once for this test file. Returns the script's path. */
export async function buildCli(name: string): Promise<string> {
  const folder = join(ROOT, "node_modules", ".cache", `gcopd-${name}-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  await esbuild.build({
    absWorkingDir: ROOT,
    stdin: {
      contents:
        'import { main } from "./src/cli/main.ts";\nprocess.exitCode = await main(process.argv.slice(2));\n',
      resolveDir: ROOT,
      loader: "ts",
    },
    outdir: folder,
    entryNames: "gcopd",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "warning",
    plugins: [rawPlugin],
  });
  return join(folder, "gcopd.mjs");
}

export interface CliProcess {
  child: ChildProcess;
  /** What was printed so far. */
  output: { out: string; err: string };
  /** Resolves when the process is gone. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** A signal that a process sends itself once it has printed an event as JSON, or a text, before it does anything else. */
export type SignalAt = { signal: NodeJS.Signals } & (
  | {
      type: string;
      /** Any when absent. */
      step?: number;
    }
  | { text: string }
);

/** Preloaded code. A signal sent from outside could arrive after the process has finished. */
const sendsItself = (at: SignalAt): string => `
  const { type, step, text, signal } = ${JSON.stringify(at)};
  const isIt = (line) => {
    if (text !== undefined) return line.includes(text);
    const event = line.startsWith("{") ? JSON.parse(line) : {};
    return event.type === type && (step ?? event.step) === event.step;
  };
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = (chunk, ...rest) => {
      const more = write(chunk, ...rest);
      if (String(chunk).split("\\n").some(isIt)) process.kill(process.pid, signal);
      return more;
    };
  }`;

/** Starts a bundled command line. */
export function startCli(
  script: string,
  args: readonly string[],
  { env, at }: { env?: NodeJS.ProcessEnv; at?: SignalAt } = {},
): CliProcess {
  const first = at ? ["--import", `data:text/javascript,${encodeURIComponent(sendsItself(at))}`] : [];
  const child = spawn(process.execPath, [...first, script, ...args], { env: { ...process.env, ...env } });
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.err += text;
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) => {
    child.once("close", (code, signal) => done({ code, signal }));
  });
  return { child, output, ended };
}
