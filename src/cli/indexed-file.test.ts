/** Indexes beside files: kept, trusted, rebuilt; files that have no random access; the commands index and synth. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fixtureEpisodes, fixtureSources } from "../../test/support/scienceworld.ts";
import { register as indexFile } from "./commands/index-file.ts";
import { register as retrieve } from "./commands/retrieve.ts";
import { register as synth } from "./commands/synth.ts";
import { openIndexedFile } from "./indexed-file.ts";

let folder: string;
let out: string;
let err: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-"));
  out = "";
  err = "";
  const into = (keep: (text: string) => void) =>
    ((chunk: Uint8Array | string, ...rest: unknown[]) => {
      keep(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
      const done = rest.at(-1);
      if (typeof done === "function") done();
      return true;
    }) as typeof process.stdout.write;
  vi.spyOn(process.stdout, "write").mockImplementation(into((text) => (out += text)));
  vi.spyOn(process.stderr, "write").mockImplementation(into((text) => (err += text)));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

async function gcopd(...args: string[]): Promise<void> {
  const program = new Command("gcopd").exitOverride();
  for (const register of [indexFile, retrieve, synth]) register(program);
  for (const command of program.commands) command.exitOverride();
  await program.parseAsync(args, { from: "user" });
}

const text = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const path = (name: string) => join(folder, name);

/** Opens, reads every task, closes. */
async function readAll(file: string, keepFrom?: number) {
  const { library, index, close } = await openIndexedFile(file, { keepFrom });
  try {
    const records = [];
    for (const place of library.tasks.keys()) {
      records.push(...(await library.readTask(place)), ...(await library.readEpisodes(place)));
    }
    return { records, index };
  } finally {
    await close();
  }
}

describe("an indexed file", () => {
  const sources = fixtureSources().slice(0, 30);

  it("keeps its index beside large files only, and uses it", async () => {
    const file = path("s.jsonl");
    writeFileSync(file, text(sources));
    expect((await readAll(file)).index).toBe("built");
    expect(readdirSync(folder)).toEqual(["s.jsonl"]);
    const built = await readAll(file, 0);
    expect(built.index).toBe("built");
    expect(readdirSync(folder)).toEqual(["s.jsonl", "s.jsonl.index.jsonl"]);
    const kept = await readAll(file);
    expect(kept).toEqual({ records: built.records, index: "kept" });
    expect(err).toBe("");
  });

  it("rebuilds it when the file has changed or the index is damaged", async () => {
    const file = path("s.jsonl");
    writeFileSync(file, text(sources));
    await gcopd("index", file);
    const good = readFileSync(`${file}.index.jsonl`, "utf8");
    // The same size and time: only the digest tells.
    const edited = text(sources).replace('"teacher:3"', '"teacher:x"');
    const { mtime } = statSync(file);
    writeFileSync(file, edited);
    utimesSync(file, mtime, mtime);
    const changed = await readAll(file, 0);
    expect(changed.index).toBe("built");
    expect(changed.records.some((record) => "source" in record && record.source === "teacher:x")).toBe(true);
    expect(err).toMatch(/note: .*s\.jsonl\.index\.jsonl is out of date: the index is rebuilt\n/);
    expect((await readAll(file)).index).toBe("kept");
    for (const damaged of ["", "{}\n", good.slice(0, 900)]) {
      err = "";
      writeFileSync(`${file}.index.jsonl`, damaged);
      expect((await readAll(file, 0)).records).toEqual(changed.records);
      expect(err).toMatch(/is (damaged|out of date): the index is rebuilt\n/);
    }
  });

  it("unpacks gzip, and keeps no index of it", async () => {
    writeFileSync(path("s.jsonl.gz"), gzipSync(text(sources)));
    writeFileSync(path("s.jsonl"), text(sources));
    const packed = await readAll(path("s.jsonl.gz"), 0);
    expect(packed.records).toEqual((await readAll(path("s.jsonl"))).records);
    expect(readdirSync(folder)).toEqual(["s.jsonl", "s.jsonl.gz"]);
    await expect(gcopd("index", path("s.jsonl.gz"))).rejects.toThrow(/s\.jsonl\.gz: is compressed or a pipe/);
  });

  it("refuses a kept index of the other kind, a folder and a file that is not there", async () => {
    writeFileSync(path("e.jsonl"), text(fixtureEpisodes().slice(0, 2)));
    await gcopd("index", path("e.jsonl"));
    await expect(openIndexedFile(path("e.jsonl"), { kind: "source" })).rejects.toThrow(
      /e\.jsonl, line 1, format: this is a record of kind episode; expected "gcopd\.source\.v1"/,
    );
    await expect(openIndexedFile(folder)).rejects.toThrow(/is a folder; expected a file/);
    await expect(openIndexedFile(path("none.jsonl"))).rejects.toThrow(/none\.jsonl: no such file/);
    await expect(gcopd("index", "-")).rejects.toThrow(/standard input has no place/);
  });
});

describe("gcopd synth", () => {
  const SIZE = ["--tasks", "6", "--sources", "4", "--episodes", "9", "--seed", "5"];

  it("writes a library and episodes that retrieve reads, the same each time", async () => {
    const files = ["--out", path("s.jsonl"), "--episodes-out", path("e.jsonl")];
    await gcopd("synth", ...SIZE, ...files);
    expect(err).toMatch(/s\.jsonl: 24 sources, \d+ decisions\n.*e\.jsonl: 9 episodes, \d+ decisions\n/);
    const first = readFileSync(path("s.jsonl"), "utf8");
    await gcopd("synth", ...SIZE, ...files);
    expect(readFileSync(path("s.jsonl"), "utf8")).toBe(first);
    const both = ["--library", path("s.jsonl"), "--episodes", path("e.jsonl")];
    await gcopd("retrieve", ...both);
    const plain = out;
    expect(plain.trimEnd().split("\n").length).toBe(Number(/(\d+) decisions of 9 episodes/.exec(err)?.[1]));
    out = "";
    await gcopd("index", path("s.jsonl"), path("e.jsonl"));
    expect(out).toMatch(/s\.jsonl\.index\.jsonl: 24 sources, 0 episodes, \d+ decisions of 6 tasks; /);
    out = "";
    await gcopd("retrieve", ...both);
    expect(out).toBe(plain);
  });

  it("count one in the singular", async () => {
    const files = ["--out", path("s.jsonl"), "--episodes-out", path("e.jsonl")];
    await gcopd("synth", "--tasks", "1", "--sources", "1", "--episodes", "1", ...files);
    expect(err).toMatch(/s\.jsonl: 1 source, .*\n.*e\.jsonl: 1 episode, /);
    await gcopd("index", path("s.jsonl"));
    expect(out).toMatch(/: 1 source, 0 episodes, \d+ decisions of 1 task; /);
    await gcopd("retrieve", "--library", path("s.jsonl"), "--episodes", path("e.jsonl"));
    expect(err).toMatch(/ decisions of 1 episode over 1 source of 1 task\n$/);
  });

  it("refuses episodes without a file, and one file for both", async () => {
    await expect(gcopd("synth", ...SIZE, "--out", path("s.jsonl"))).rejects.toThrow(/needs --episodes-out/);
    const same = ["--out", path("s.jsonl"), "--episodes-out", path("s.jsonl")];
    await expect(gcopd("synth", ...SIZE, ...same)).rejects.toThrow(/name one file/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
