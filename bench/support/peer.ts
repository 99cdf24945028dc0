import { spawnSync } from "node:child_process";

/** A row of a benchmark's table. */
export interface BenchRow {
  what: string;
  /** Tokens of the sequences given. */
  tokens: number;
  seconds: number;
  /** Tokens that were computed, where fewer than given. */
  computed?: number;
  operations?: number;
  /** Peak memory of the device, MiB. */
  memory?: number | null;
  /** Which rows are compared: the first of ours with the first of the peer's with that name. */
  pair?: string;
}

export interface Peer<Row = BenchRow> {
  /** Versions and device, or why it did not run. */
  note: string;
  rows: Row[];
}

/** Runs a Python peer, whose last line is a Peer in JSON. */
export function runPeer<Row = BenchRow>(script: string, args: readonly string[]): Peer<Row> {
  const { status, stdout, stderr, error } = spawnSync("python3", [script, ...args], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  const last = (stdout ?? "").trim().split("\n").at(-1) ?? "";
  if (status === 0 && last.startsWith("{")) return JSON.parse(last) as Peer<Row>;
  const reason = error?.message ?? (stderr ?? "").trim().split("\n").at(-1) ?? `exit status ${status}`;
  return { note: `not run (${reason})`, rows: [] };
}

const figure = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);

/** One table, ours beside the peer's. */
export function printTable(ours: readonly BenchRow[], peer: Peer): void {
  const head = ["what", "tokens", "computed", "seconds", "tokens/s", "TFLOP/s", "peak GiB", "beside PyTorch"];
  const lines = [head, head.map((_, i) => (i === 0 ? "---" : "---:"))];
  for (const [name, rows] of [
    ["WebGPU", ours],
    ["PyTorch", peer.rows],
  ] as const)
    for (const row of rows) {
      const { tokens, seconds, computed, operations, memory, pair } = row;
      const beside = name === "WebGPU" ? peer.rows.find((other) => other.pair === pair) : undefined;
      const ratio = beside === undefined ? "" : tokens / seconds / (beside.tokens / beside.seconds);
      lines.push([
        `${name}: ${row.what}`,
        tokens.toLocaleString("en"),
        computed === undefined ? "" : computed.toLocaleString("en"),
        figure(seconds),
        figure(tokens / seconds),
        operations === undefined ? "" : figure(operations / seconds / 1e12),
        memory == null ? "" : figure(memory / 1024),
        ratio === "" ? "" : `${figure(ratio)}×`,
      ]);
    }
  for (const line of lines) console.log(`| ${line.join(" | ")} |`);
  console.log(`\nPyTorch: ${peer.note}`);
}
